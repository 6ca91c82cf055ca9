/* The signal state with which the command was started: saved, restored, and an end by signal. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "signals.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static sigset_t mask;
static sigset_t ignored;

void cst_cli_signals_remember(void) {
    sigprocmask(SIG_SETMASK, NULL, &mask);
    sigemptyset(&ignored);
    for (int signal = 1; signal < NSIG; signal++) {
        struct sigaction action;
        if (sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            sigaddset(&ignored, signal);
    }
}

void cst_cli_signals_restore(void) {
    for (int signal = 1; signal < NSIG; signal++) {
        struct sigaction action = {.sa_handler = SIG_DFL};
        if (sigismember(&ignored, signal) == 1) action.sa_handler = SIG_IGN;
        sigaction(signal, &action, NULL); /* fails for KILL, STOP and libc's own signals */
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
}

void cst_cli_signals_die(int signal) {
    /* The program has left its core file if the limit allowed one, and a second core file would
     * only hide it. A core pattern that is a pipe ignores the limit, but obeys this attribute. */
    struct rlimit none = {0, 0};
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t one;
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    sigaction(signal, &action, NULL);
    sigemptyset(&one);
    sigaddset(&one, signal);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    kill(getpid(), signal);
    /* The process still runs: a signal cannot end process 1 of a container. The exit code is that
     * of a shell. */
    _exit(128 + signal);
}
