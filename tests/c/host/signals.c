/* Signals belong to the host. No signal comes without a sender, and each sent signal arrives once,
 * in the host's handler. Blocked signals stay pending although workers exist. A host that waits
 * with sigwait gets them. Default actions still end the process.
 */
#define _GNU_SOURCE
#include "process.h"
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int received[65];

static void handler(int signal) {
    atomic_fetch_add(&received[signal], 1);
}

static void work(int milliseconds) {
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += milliseconds * 1000000L;
    do {
#pragma omp parallel num_threads(3)
        {
#pragma omp task
            sched_yield();
#pragma omp barrier
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - end.tv_sec) * 1000000000L + now.tv_nsec - end.tv_nsec < 0);
}

static const int ours[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE,   SIGTERM, SIGUSR1,
                           SIGUSR2, SIGTSTP, SIGCONT, SIGVTALRM, SIGPROF, SIGALRM};
enum { OURS = sizeof ours / sizeof *ours };

static void handled(void) {
    struct sigaction action = {.sa_handler = handler};
    for (int signal = 1; signal <= 64; signal++)
        if (signal != SIGKILL && signal != SIGSTOP && signal != SIGABRT && signal != SIGSEGV &&
            signal != 32 && signal != 33)
            sigaction(signal, &action, NULL);
    work(600);
    for (int signal = 1; signal <= 64; signal++) {
        if (atomic_load(&received[signal])) fprintf(stderr, "unsent signal %d came\n", signal);
        CHECK_EQ(atomic_load(&received[signal]), 0);
    }
    for (int round = 1; round <= 20; round++)
        for (int i = 0; i < OURS; i++) {
            CHECK(kill(getpid(), ours[i]) == 0);
            while (atomic_load(&received[ours[i]]) < round) work(1);
            CHECK_EQ(atomic_load(&received[ours[i]]), round);
        }
    for (int i = 0; i < OURS; i++) signal(ours[i], SIG_DFL);
}

/* All threads of the program block a signal, and the workers inherit the mask: the signal stays
 * pending. */
static void blocked(void) {
    sigset_t all, pending;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    work(100);
    signal(SIGUSR1, SIG_DFL); /* fatal in any thread that does not block it */
    for (int round = 0; round < 10; round++) {
        kill(getpid(), SIGUSR1);
        kill(getpid(), SIGTERM);
        work(5);
        sigpending(&pending);
        CHECK(sigismember(&pending, SIGUSR1) && sigismember(&pending, SIGTERM));
        int got[2];
        sigset_t two;
        sigemptyset(&two);
        sigaddset(&two, SIGUSR1);
        sigaddset(&two, SIGTERM);
        CHECK(sigwait(&two, &got[0]) == 0 && sigwait(&two, &got[1]) == 0);
        CHECK_EQ(got[0] + got[1], SIGUSR1 + SIGTERM);
    }
}

/* Default actions end a process with workers. */
static void ended_by(int number) {
    char argument[20];
    snprintf(argument, sizeof argument, "die %d", number);
    struct child child = run_child(argument, NULL);
    CHECK(WIFSIGNALED(child.status) && WTERMSIG(child.status) == number);
}

static void die(int number) {
    work(20);
    kill(getpid(), number);
    for (;;) pause();
}

int main(int count, char **arguments) {
    if (count > 1 && !strncmp(arguments[1], "die ", 4)) {
        alarm(20);
        die(atoi(arguments[1] + 4));
    }
    if (count > 1) {
        alarm(40);
        blocked();
        return 0;
    }
    test_limit(55);
    ended_by(SIGINT);
    ended_by(SIGTERM);
    ended_by(SIGPIPE);
    ended_by(SIGUSR1);
    ended_by(SIGQUIT);
    EXPECT_EXIT(run_child("blocked", &(struct child_options){.seconds = 40}), 0);
    alarm(0);
    handled();
    return 0;
}
