/* Several threads of the program open random regions at once, for some seconds: teams of changing
 * size, inner teams, every kind of worksharing, tasks, locks and cancellation. Each step checks its
 * result. Data that a construct orders is written and read without atomics, so that ThreadSanitizer
 * judges the runtime's ordering.
 *
 * STRESS_SECONDS, STRESS_THREADS (size of the largest team) and STRESS_SEED set its course.
 *
 * test: alone
 * test: env STRESS_THREADS=1 OMP_CANCELLATION=true
 * test: env STRESS_THREADS=2 OMP_CANCELLATION=true
 * test: env STRESS_THREADS=3 OMP_CANCELLATION=true
 * test: env STRESS_THREADS=8 OMP_CANCELLATION=true
 * test: env STRESS_THREADS=32 OMP_CANCELLATION=true
 * test: env STRESS_THREADS=3 OMP_WAIT_POLICY=passive
 * test: env STRESS_THREADS=2 OMP_WAIT_POLICY=active OMP_CANCELLATION=true
 * test: env STRESS_THREADS=3 CAPSTAN_WAIT=spin:off OMP_CANCELLATION=true
 * test: env STRESS_THREADS=8 CAPSTAN_WAIT=yield:off
 */
#include "parts/region.h"
#include "parts/share.h"
#include "parts/task.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef STRESS_SECONDS
#define STRESS_SECONDS 2
#endif

enum { MASTERS = 3 };

static int most_threads = 4;
static uint64_t base_seed = 1;
static struct timespec end;

static int number_from(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text && *text ? atoi(text) : otherwise;
}

static int time_left(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec);
}

static void step_inner_region(struct member *m, struct slot *slot) {
    int size = 1 + (int)draw(&m->common, most_threads < 4 ? (unsigned)most_threads : 4);
    (void)slot;
    if (m->region->depth < 2) run_region(size, m->region->depth + 1, m->common + m->own % 7);
}

typedef void step(struct member *, struct slot *);

static step *const steps[] = {
    step_barrier, step_loop,      step_loop,         step_ordered,      step_single,
    step_single,  step_sections,  step_exclusion,    step_tree,         step_left_behind,
    step_depend,  step_taskgroup, step_taskloop,     step_detach,       step_task_reduction,
    step_barrier, step_loop,      step_cancel_group, step_inner_region,
};

static void take_part(struct region *region) {
    struct member m = {.region = region, .number = omp_get_thread_num(), .common = region->seed};
    m.own = region->seed * 31 + (uint64_t)m.number * 977 + 5;
    CHECK_EQ(omp_get_num_threads(), region->size);
    CHECK_EQ(omp_get_level(), region->depth + 1);
    for (int k = 0; k < region->steps; k++) {
        delay(&m);
        steps[draw(&m.common, sizeof steps / sizeof *steps)](&m, &region->slot[k]);
    }
}

/* One member cancels; the others are at a barrier or a cancellation point, or reach one. */
static void cancelled_region(int size, uint64_t seed) {
    int chosen = (int)(seed % (unsigned)size), at = (int)(seed / 64 % 10);
#pragma omp parallel num_threads(size)
    {
        struct member m = {.number = omp_get_thread_num(), .own = seed + 3};
        for (int round = 0; round < 10; round++) {
            delay(&m);
            if (m.number == chosen && round == at) {
#pragma omp cancel parallel
            }
            if (seed & 1) {
#pragma omp task
                delay_task(1);
            }
#pragma omp barrier
            if (seed & 2) {
#pragma omp for schedule(dynamic, 1)
                for (int i = 0; i < 5; i++) {
#pragma omp cancellation point for
                    if (i == 3 && (seed & 4)) {
#pragma omp cancel for
                    }
                }
            }
#pragma omp cancellation point parallel
        }
    }
}

static void check_region(struct region *region) {
    for (int k = 0; k < region->steps; k++) {
        struct slot *slot = &region->slot[k];
        if (slot->expected >= 0) CHECK_EQ(slot->count, slot->expected);
    }
    CHECK_EQ(region->locked_sum, region->critical_sum);
}

static void run_region(int size, int depth, uint64_t seed) {
    struct region *region = calloc(1, sizeof *region);
    uint64_t state = seed;
    region->size = size;
    region->depth = depth;
    region->seed = seed;
    region->steps = 1 + (int)draw(&state, depth == 0 ? MOST_STEPS : 5);
    for (int k = 0; k < MOST_STEPS; k++) region->slot[k].expected = -1;
    omp_init_lock(&region->lock);
    omp_init_nest_lock(&region->nest_lock);
    long sum = 0;
#pragma omp parallel num_threads(size) reduction(+ : sum)
    {
        take_part(region);
        sum += omp_get_thread_num() + 1;
    }
    CHECK_EQ(sum, (long)size * (size + 1) / 2);
    check_region(region);
    omp_destroy_lock(&region->lock);
    omp_destroy_nest_lock(&region->nest_lock);
    free(region);
}

struct master {
    pthread_t thread;
    uint64_t seed;
    int regions, number;
};

/* The open region of each master, for the message of a run that does not end. */
static struct doing {
    _Atomic uint64_t seed;
    _Atomic int size, cancelled;
} doing[MASTERS];

static void say_what_does_not_end(int signal) {
    char line[200];
    for (int i = 0; i < MASTERS; i++) {
        int length =
            snprintf(line, sizeof line, "master %d: region of %d, seed %llu%s\n", i, doing[i].size,
                     (unsigned long long)doing[i].seed, doing[i].cancelled ? ", cancelled" : "");
        if (write(STDERR_FILENO, line, (size_t)length) < 0) break;
    }
    raise(signal); /* SA_RESETHAND: ends the program */
}

static void *master(void *argument) {
    struct master *self = argument;
    uint64_t state = self->seed;
    omp_set_max_active_levels(3);
    for (int k = 0; k < self->regions && time_left(); k++) {
        int size = 1 + (int)draw(&state, (unsigned)most_threads);
        if (draw(&state, 3) == 0) size = most_threads;
        uint64_t seed = state;
        bool cancelled = omp_get_cancellation() && draw(&state, 8) == 0;
        doing[self->number].seed = seed;
        doing[self->number].cancelled = cancelled;
        doing[self->number].size = size;
        if (cancelled)
            cancelled_region(size, seed >> 20);
        else
            run_region(size, 0, seed);
        doing[self->number].size = 0;
    }
    return NULL;
}

/* Masters come and go; one of them is the main thread. */
static void generation(uint64_t *state) {
    struct master masters[MASTERS];
    int count = 1 + (int)draw(state, most_threads > 1 ? MASTERS : 1);
    for (int i = 0; i < count; i++) {
        masters[i].seed = *state + (uint64_t)i * 1000003;
        masters[i].number = i;
        masters[i].regions = 1 + (int)draw(state, 40);
        if (i > 0) CHECK(pthread_create(&masters[i].thread, NULL, master, &masters[i]) == 0);
    }
    master(&masters[0]);
    for (int i = 1; i < count; i++) pthread_join(masters[i].thread, NULL);
}

int main(void) {
    int seconds = number_from("STRESS_SECONDS", STRESS_SECONDS);
    most_threads = number_from("STRESS_THREADS", 4);
    base_seed = (uint64_t)number_from("STRESS_SEED", 1);
    CHECK(most_threads >= 1 && most_threads <= MOST_THREADS);
    test_limit((unsigned)seconds + 40);
    struct sigaction says = {.sa_handler = say_what_does_not_end, .sa_flags = SA_RESETHAND};
    sigaction(SIGALRM, &says, NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    uint64_t state = base_seed * 7919;
    while (time_left()) generation(&state);
    return 0;
}
