/* callers.c: regions that different threads open, and several threads at once.
 *
 * Masters are plain threads. "turns" lets CALLERS threads call one after the other, as GHC does
 * when it spreads safe calls over its threads. "at-once" lets them all call at the same time.
 * "behind-a-lock" does so as OpenBLAS does: each master asks for the number of threads, spins for a
 * lock, and opens its region under it. The members work for some 7 microseconds. Figures are
 * nanoseconds per region over all masters, and the number of threads of the process at the end.
 * "servers" are several such processes at once, whose regions take 7 to 450 microseconds.
 */
#include "bench.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLERS = 8, WORK = 25000 };
enum { SERVERS = 4, SERVER_CALLERS = 4, SERVER_REGIONS = 28, SIZES = 7 };

static void regions(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) {
#pragma omp parallel num_threads(b->threads)
        bench_keep();
    }
}

struct crew;
typedef void calls(struct crew *crew, int number); /* of one caller */

struct crew {
    const struct bench *bench;
    pthread_barrier_t start, finish;
    pthread_mutex_t turn_lock;
    pthread_cond_t turn_changed;
    int turn; /* the number of the caller whose turn it is */
    int callers;
    long regions; /* the number of regions of each caller, in hundreds if they take turns */
    calls *calls;
    atomic_flag lock;
    bool over;
};

struct caller {
    struct crew *crew;
    int number;
    pthread_t thread;
};

static void take_turns(struct crew *c, int number) {
    for (long i = 0; i < c->regions; i++) {
        pthread_mutex_lock(&c->turn_lock);
        while (c->turn != number) pthread_cond_wait(&c->turn_changed, &c->turn_lock);
        pthread_mutex_unlock(&c->turn_lock);
        regions(c->bench, 100);
        pthread_mutex_lock(&c->turn_lock);
        c->turn = (number + 1) % c->callers;
        pthread_cond_broadcast(&c->turn_changed);
        pthread_mutex_unlock(&c->turn_lock);
    }
}

static void at_once(struct crew *c, int number) {
    (void)number;
    regions(c->bench, c->regions);
}

static void region_behind_a_lock(struct crew *c, int size) {
    int threads = omp_get_max_threads();
    while (atomic_flag_test_and_set(&c->lock)) continue;
#pragma omp parallel num_threads(threads)
    for (volatile int work = 0; work < size; work++) bench_keep();
    atomic_flag_clear(&c->lock);
}

static void behind_a_lock(struct crew *c, int number) {
    (void)number;
    for (long i = 0; i < c->regions; i++) region_behind_a_lock(c, WORK);
}

static void of_mixed_sizes(struct crew *c, int number) {
    for (long i = 0; i < c->regions; i++) region_behind_a_lock(c, WORK << (i + number) % SIZES);
}

static void *call(void *argument) {
    struct caller *me = argument;
    struct crew *c = me->crew;
    for (;;) {
        pthread_barrier_wait(&c->start);
        if (c->over) return NULL;
        c->calls(c, me->number);
        pthread_barrier_wait(&c->finish);
    }
}

static double run_crew(struct crew *c, long n) {
    c->regions = n;
    c->turn = 0;
    double start = bench_now();
    pthread_barrier_wait(&c->start);
    pthread_barrier_wait(&c->finish);
    return bench_now() - start;
}

/* Returns the fastest of three runs, as a crew may have been slow to start. */
static double fastest(struct crew *c, long n) {
    double best = run_crew(c, n);
    for (int i = 1; i < 3; i++) {
        double next = run_crew(c, n);
        if (next < best) best = next;
    }
    return best;
}

static int live_threads(void) {
    char line[256];
    int threads = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Threads: %d", &threads) == 1) break;
    if (f) fclose(f);
    return threads;
}

static void open_crew(struct crew *c, struct caller *caller) {
    pthread_barrier_init(&c->start, NULL, (unsigned)c->callers + 1);
    pthread_barrier_init(&c->finish, NULL, (unsigned)c->callers + 1);
    pthread_mutex_init(&c->turn_lock, NULL);
    pthread_cond_init(&c->turn_changed, NULL);
    for (int i = 0; i < c->callers; i++) {
        caller[i] = (struct caller){.crew = c, .number = i};
        pthread_create(&caller[i].thread, NULL, call, &caller[i]);
    }
}

static void close_crew(struct crew *c, struct caller *caller) {
    c->over = true;
    pthread_barrier_wait(&c->start);
    for (int i = 0; i < c->callers; i++) pthread_join(caller[i].thread, NULL);
}

static void measure(const struct bench *b, const char *name, int callers, calls *calls) {
    if (!bench_wanted(b, name)) return;
    struct crew c = {.bench = b, .callers = callers, .calls = calls, .lock = ATOMIC_FLAG_INIT};
    struct caller caller[CALLERS];
    open_crew(&c, caller);
    long n = 1;
    double each = callers * (calls == take_turns ? 100.0 : 1.0),
           *value = malloc((size_t)b->samples * sizeof(double));
    while (fastest(&c, n) < b->sample_ns && n < 1000000000) n *= 2;
    for (int i = 0; i < b->samples; i++) value[i] = run_crew(&c, n) / ((double)n * each);
    bench_print(name, "ns", bench_median(value, b->samples));
    char threads[64];
    snprintf(threads, sizeof threads, "%s-threads", name);
    bench_print(threads, "threads", live_threads());
    close_crew(&c, caller);
    free(value);
}

static void serve(const struct bench *b) {
    struct crew c = {
        .bench = b, .callers = SERVER_CALLERS, .calls = of_mixed_sizes, .lock = ATOMIC_FLAG_INIT};
    struct caller caller[SERVER_CALLERS];
    open_crew(&c, caller);
    run_crew(&c, SERVER_REGIONS);
    close_crew(&c, caller);
}

/* The time by the clock until all processes have ended, per region. This process has opened no
 * region yet, since a runtime need not survive a fork. */
static double run_servers(const struct bench *b) {
    double start = bench_now();
    for (int i = 0; i < SERVERS; i++) {
        pid_t server = fork();
        if (server < 0) exit(1);
        if (server == 0) {
            serve(b);
            _exit(0);
        }
    }
    for (int i = 0; i < SERVERS; i++) {
        int status = 1;
        if (wait(&status) < 0 || status != 0) exit(1);
    }
    return (bench_now() - start) / (SERVERS * SERVER_CALLERS * SERVER_REGIONS);
}

static void measure_servers(const struct bench *b) {
    if (!bench_wanted(b, "servers")) return;
    double *value = malloc((size_t)b->samples * sizeof(double));
    for (int i = 0; i < b->samples; i++) value[i] = run_servers(b);
    bench_print("servers", "ns", bench_median(value, b->samples));
    free(value);
}

int main(int argc, char **argv) {
    struct bench arguments = bench_arguments(argc, argv), *b = &arguments;
    omp_set_dynamic(0);
    omp_set_num_threads(b->threads);
    measure_servers(b);
    bench_case(b, "main-thread", regions, 1);
    measure(b, "one-other-thread", 1, at_once);
    measure(b, "eight-in-turns", CALLERS, take_turns);
    measure(b, "eight-at-once", CALLERS, at_once);
    measure(b, "two-behind-a-lock", 2, behind_a_lock);
    measure(b, "eight-behind-a-lock", CALLERS, behind_a_lock);
    return 0;
}
