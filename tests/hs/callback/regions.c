/* regions.c: C code like that of a library, which calls a function of its caller. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <omp.h>
#include <sched.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each member calls `count` times; returns the sum of the results. */
double region_sum(double (*function)(double), int threads, int count) {
    double sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    for (int i = 0; i < count; i++) sum += function(i);
    return sum;
}

/* Opens `regions` regions of two threads, some 100 ms in all. Returns the number of times that a
 * member's affinity mask was not the caller's. */
int narrow_members(int regions) {
    int narrow = 0;
    cpu_set_t own, mask;
    sched_getaffinity(0, sizeof own, &own);
    for (int i = 0; i < regions; i++) {
#pragma omp parallel num_threads(2) private(mask) reduction(+ : narrow)
        {
            sched_getaffinity(0, sizeof mask, &mask);
            narrow += !CPU_EQUAL(&mask, &own);
            double begin = omp_get_wtime();
            while (omp_get_wtime() - begin < 125e-6) {
            }
        }
    }
    return narrow;
}

/* Calls `count` times without a region; returns the sum of the results. */
double serial_sum(double (*function)(double), int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += function(i);
    return sum;
}

/* Passes a pointer for the caller's use, like qsort_r. */
int64_t region_fold(int64_t (*function)(void *user, int64_t index), void *user, int threads,
                    int64_t count) {
    int64_t sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum) schedule(dynamic, 3)
    for (int64_t i = 0; i < count; i++) sum += function(user, i);
    return sum;
}

/* More arguments than registers, of all kinds and widths. */
typedef double mixed(int8_t a, double b, uint16_t c, float d, int32_t e, double f, int64_t g,
                     float h, uint64_t i, double j, int16_t k, double l, int m, double n, long o,
                     double p, float q, double r, signed char s, float t);
double call_mixed(mixed *function) {
    return function(-1, 2, 65535, 4, -5, 6, -7, 8, 9, 10, -11, 12, -13, 14, -15, 16, 17, 18, -19,
                    20);
}

int call_narrow(int8_t (*function)(int8_t)) {
    return function(-100);
}

float call_float(float (*function)(float)) {
    return function(1.5f);
}

/* Each member calls `count` times without a pause, and then counts itself in `rushed`. It calls no
 * more, and computes until another thread sets `stop`. */
double region_rush(double (*function)(double), int threads, int count, int *rushed, int *stop) {
    double sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        for (int i = 0; i < count; i++) sum += function(i);
        __atomic_fetch_add(rushed, 1, __ATOMIC_RELEASE);
        while (!__atomic_load_n(stop, __ATOMIC_ACQUIRE)) {
        }
    }
    return sum;
}

/* The members meet after each `count` calls. */
double region_rush_and_meet(double (*function)(double), int threads, int rounds, int count) {
    double sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < count; i++) sum += function(i);
#pragma omp barrier
    }
    return sum;
}

/* After each `count` calls a member calls another pointer once. */
double region_rush_and_wrap(double (*function)(double), double (*wrapper)(double), int threads,
                            int rounds, int count) {
    double sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < count; i++) sum += function(i);
        sum += wrapper(count);
    }
    return sum;
}

/* All members meet between calls. Returns how often a member was ahead of the others. */
int region_barriers(double (*function)(double), int threads, int rounds) {
    int inside = 0, wrong = 0;
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < rounds; i++) {
        function(i);
#pragma omp atomic
        inside++;
#pragma omp barrier
        if (inside != (i + 1) * omp_get_num_threads()) {
#pragma omp atomic
            wrong++;
        }
#pragma omp barrier
    }
    return wrong;
}

/* Calls under a lock and in a critical section, for which other members wait. */
int region_locks(double (*function)(double), int threads, int rounds) {
    omp_lock_t lock;
    int locked = 0, critical = 0; /* each protected by its own lock */
    omp_init_lock(&lock);
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < rounds; i++) {
        function(i);
        omp_set_lock(&lock);
        function(i);
        locked++;
        omp_unset_lock(&lock);
#pragma omp critical
        {
            function(i);
            critical++;
        }
    }
    omp_destroy_lock(&lock);
    return locked + critical;
}

/* Calls under locks that the other members test again and again, and between the tests. */
int region_tested_locks(double (*function)(double), int threads, int rounds) {
    omp_lock_t lock;
    omp_nest_lock_t nest;
    int locked = 0, nested = 0;
    volatile int turn = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < rounds; i++) {
        function(i);
        while (!omp_test_lock(&lock)) continue;
        function(i);
        locked++;
        omp_unset_lock(&lock);
        function(i);
        while (!omp_test_nest_lock(&nest)) continue;
        function(i);
        nested++;
        omp_unset_nest_lock(&nest);
        function(i);
        while (turn % omp_get_num_threads() != omp_get_thread_num()) {
#pragma omp taskyield
        }
        function(i);
        turn++;
    }
    omp_destroy_nest_lock(&nest);
    omp_destroy_lock(&lock);
    return locked + nested + turn;
}

/* Tasks that call. One member makes them and all execute them, some while they wait at the end. */
double region_tasks(double (*function)(double), int threads, int count) {
    double sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single nowait
    for (int i = 0; i < count; i++) {
#pragma omp task firstprivate(i)
        {
            double value = function(i);
#pragma omp atomic
            sum += value;
        }
        if (i % 16 == 15) {
#pragma omp taskwait
            function(0);
        }
    }
    return sum;
}

/* Inner regions in a region; both levels call. */
double region_nested(double (*function)(double), int outer, int inner, int count) {
    double sum = 0;
#pragma omp parallel num_threads(outer) reduction(+ : sum)
    {
        sum += function(0);
        double below = 0;
#pragma omp parallel num_threads(inner) reduction(+ : below)
        for (int i = 0; i < count; i++) below += function(i);
        sum += below + function(0);
    }
    return sum;
}

static int own;
#pragma omp threadprivate(own)

/* Counts the calls after which the C code is on another thread, or has another errno, than
 * before. */
int region_identity(double (*function)(double), int threads, int rounds) {
    int wrong = 0;
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
    for (int i = 0; i < rounds; i++) {
        int *place = &own, number = omp_get_thread_num();
        own = i;
        errno = 1000 + number;
        function(i);
        wrong +=
            errno != 1000 + number || own != i || &own != place || number != omp_get_thread_num();
    }
    return wrong;
}

/* Counts the rounds; a cancelled region ends at its next cancellation point. */
int region_cancellable(double (*function)(double), int threads, int rounds) {
    int done = 0;
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < rounds; i++) {
        function(i);
#pragma omp atomic
        done++;
#pragma omp cancellation point parallel
    }
    return done;
}

/* Calls in a forked child, where no Haskell code can run; returns the child's result + 1. */
int call_in_child(double (*function)(double)) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) _exit((int)function(5) + 1);
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Returns the size of a region that asks for `threads` threads, in a forked child. */
int team_in_child(int threads) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        int count = 0;
#pragma omp parallel num_threads(threads) reduction(+ : count)
        count++;
        _exit(count);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Integrates by the midpoint rule; an example of a library that takes a function. */
double integrate(double (*function)(double), double from, double to, int steps) {
    double step = (to - from) / steps, sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < steps; i++) sum += function(from + (i + 0.5) * step);
    return sum * step;
}

/* Returns the size of a region without a num_threads clause. */
int region_size(void) {
    int size = 0;
#pragma omp parallel
#pragma omp masked
    size = omp_get_num_threads();
    return size;
}

/* Opens a region of a size that the runtime chooses every 10 ms. Returns the largest size. */
int largest_size(int regions) {
    int largest = 0;
    for (int i = 0; i < regions; i++) {
        int size = region_size();
        if (size > largest) largest = size;
        for (double begin = omp_get_wtime(); omp_get_wtime() - begin < 0.01;) continue;
    }
    return largest;
}

/* A region without callbacks that ends when words[0] is set. words[1] counts the members that have
 * begun, and words[2] the members that have ended. */
void region_until(int threads, int *words) {
#pragma omp parallel num_threads(threads)
    {
        __atomic_add_fetch(&words[1], 1, __ATOMIC_RELEASE);
        while (!__atomic_load_n(&words[0], __ATOMIC_ACQUIRE)) usleep(100);
        __atomic_add_fetch(&words[2], 1, __ATOMIC_RELEASE);
    }
}

/* Computes without a callback. */
double region_compute(int threads, int rounds) {
    double sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    for (int i = 0; i < rounds; i++) sum += 1.0 / (1 + i);
    return sum;
}

/* Only the member with this number calls. */
double region_of_one(double (*function)(double), int threads, int who) {
    double result = 0;
#pragma omp parallel num_threads(threads)
    if (omp_get_thread_num() == who) result = function(who);
    return result;
}

/* Passes a word and returns one. The function sees the part of the argument, and fills the part of
 * the result, that its types cover. */
int64_t pass_word(int64_t (*function)(int64_t), int64_t word) {
    return function(word);
}

/* A task, which is final or not, makes the queries of Capstan.OpenMP. */
void region_task(void (*function)(void), int threads, int finally) {
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp task final(finally)
    function();
}

/* A task is complete when its event is fulfilled; then its dependent task calls. */
double region_detach(void (*start)(omp_event_handle_t), double (*function)(double), int threads) {
    double result = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    {
        omp_event_handle_t event;
        int place = 0;
#pragma omp task detach(event) depend(out : place)
        start(event);
#pragma omp task depend(in : place) shared(result)
        result = function(1);
#pragma omp taskwait
    }
    return result;
}

/* Teams call one after the other. */
void call_teams(void (*function)(void), int teams) {
#pragma omp teams num_teams(teams)
    function();
}
