/* An early end that the user asks for by a signal; see interrupt.h. GHC's runtime system without
 * threads runs no handler while it waits for a process, so the handler is C. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "interrupt.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

/* timeout(1) sends its signal to its child, and then to the group, so the child gets two. */
enum { ONE_SIGNAL_NS = 500000000 };

static volatile sig_atomic_t asked;
static struct timespec asked_at; /* the handler's own */

static void set(int signal, void (*handler)(int)) {
    struct sigaction before, action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaction(signal, NULL, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, NULL);
}

static long long since(struct timespec then) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - then.tv_sec) * 1000000000LL + (now.tv_nsec - then.tv_nsec);
}

/* Makes only calls that a handler may make. */
static void ask(int signal) {
    static const char message[] =
        "capstan: the running process is the last one; a second signal ends the command at once\n";
    if (!asked) {
        asked = signal;
        clock_gettime(CLOCK_MONOTONIC, &asked_at);
        if (write(STDERR_FILENO, message, sizeof message - 1) < 0) return;
    } else if (since(asked_at) >= ONE_SIGNAL_NS) {
        set(signal, SIG_DFL);
        raise(signal); /* it is delivered when the handler has returned */
    }
}

void cst_cli_interrupt_await(void) {
    set(SIGINT, ask);
    set(SIGTERM, ask);
}

int cst_cli_interrupt_asked(void) {
    return asked;
}
