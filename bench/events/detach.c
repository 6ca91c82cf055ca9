/* detach.c: OpenMP tasks that an event completes.
 *
 * The first task of each pair waits for an event with detach, and the second depends on it. Prints
 * millions of pairs a second: detach-timer (a timer that is due at once) and detach-pipe (a pipe to
 * which another task writes). Two further cases have no event manager. In detach-fulfil the task's
 * own body fulfils the event, and depend-only has no event. The program is compiled with -fopenmp
 * and linked with Capstan.
 *
 *   detach [-r ROUNDS] [-t THREADS] [CASE...]      CASE: bench.h */
#include "wanted.h"

#include <capstan.h>
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 20000, PIPES = 256 };

static char cell[PAIRS];
static int end[PIPES][2];
static long done;

static void need(int done_well, const char *what) {
    if (done_well) return;
    fprintf(stderr, "detach: failed: %s\n", what);
    exit(1);
}

static void depend_only(int i) {
#pragma omp task depend(out : cell[i])
    cell[i] = 1;
#pragma omp task depend(in : cell[i])
    {
#pragma omp atomic
        done += cell[i];
    }
}

static void detach_fulfil(int i) {
    omp_event_handle_t event;
#pragma omp task depend(out : cell[i]) detach(event)
    {
        cell[i] = 1;
        omp_fulfill_event(event);
    }
#pragma omp task depend(in : cell[i])
    {
#pragma omp atomic
        done += cell[i];
    }
}

static void detach_timer(int i) {
    omp_event_handle_t event;
#pragma omp task depend(out : cell[i]) detach(event)
    {
        cell[i] = 1;
        need(capstan_await_timer(0, event) == 0, "capstan_await_timer");
    }
#pragma omp task depend(in : cell[i])
    {
#pragma omp atomic
        done += cell[i];
    }
}

/* Tasks that use the same pipe run one after another. */
static void detach_pipe(int i) {
    int p = i % PIPES;
    omp_event_handle_t event;
#pragma omp task depend(inout : cell[p]) detach(event)
    {
        need(capstan_await_fd(end[p][0], CAPSTAN_READ, event) == 0, "capstan_await_fd");
        need(write(end[p][1], "x", 1) == 1, "write");
    }
#pragma omp task depend(inout : cell[p])
    {
        char byte;
        need(read(end[p][0], &byte, 1) == 1, "read");
#pragma omp atomic
        done++;
    }
}

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void measure(const char *name, void (*pair)(int), int rounds, int threads) {
    double best = 1e18;
    for (int round = 0; round < rounds; round++) {
        done = 0;
        double before = now_ns();
#pragma omp parallel num_threads(threads)
#pragma omp single
        for (int i = 0; i < PAIRS; i++) pair(i);
        double cost = (now_ns() - before) / PAIRS;
        need(done == PAIRS, "every task ran");
        if (cost < best) best = cost;
    }
    printf("%s\tM/s\t%.4f\n", name, 1000 / best);
    fflush(stdout);
}

int main(int argc, char **argv) {
    int rounds = 10, threads = omp_get_max_threads();
    for (int option; (option = getopt(argc, argv, "r:t:u:")) != -1;) {
        if (option == 'r') rounds = atoi(optarg);
        if (option == 't') threads = atoi(optarg);
        if (option == '?') return 2;
    }
    for (int i = 0; i < PIPES; i++) need(pipe2(end[i], O_CLOEXEC) == 0, "pipe2");
    if (case_wanted(argv + optind, "depend-only"))
        measure("depend-only", depend_only, rounds, threads);
    if (case_wanted(argv + optind, "detach-fulfil"))
        measure("detach-fulfil", detach_fulfil, rounds, threads);
    if (case_wanted(argv + optind, "detach-timer"))
        measure("detach-timer", detach_timer, rounds, threads);
    if (case_wanted(argv + optind, "detach-pipe"))
        measure("detach-pipe", detach_pipe, rounds, threads);
    return 0;
}
