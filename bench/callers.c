/* callers.c: regions that different threads open, and several threads at once.
 *
 * Masters are plain threads. "turns" lets CALLERS threads call one after the other, as GHC does
 * when it spreads safe calls over its threads. "at-once" lets them all call at the same time.
 * Figures are nanoseconds per region over all masters, and the number of threads of the process at
 * the end.
 */
#include "bench.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLERS = 8 };

static void regions(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) {
#pragma omp parallel num_threads(b->threads)
        bench_keep();
    }
}

struct crew {
    const struct bench *bench;
    pthread_barrier_t start, finish;
    pthread_mutex_t turn_lock;
    pthread_cond_t turn_changed;
    int turn; /* the number of the caller whose turn it is */
    int callers;
    long regions;  /* the number of regions of each caller */
    bool in_turns; /* callers open one region each, in turn */
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

static void *call(void *argument) {
    struct caller *me = argument;
    struct crew *c = me->crew;
    for (;;) {
        pthread_barrier_wait(&c->start);
        if (c->over) return NULL;
        if (c->in_turns)
            take_turns(c, me->number);
        else
            regions(c->bench, c->regions);
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

static void measure(const struct bench *b, const char *name, int callers, bool in_turns) {
    if (!bench_wanted(b, name)) return;
    struct crew c = {.bench = b, .callers = callers, .in_turns = in_turns};
    struct caller caller[CALLERS];
    pthread_barrier_init(&c.start, NULL, (unsigned)callers + 1);
    pthread_barrier_init(&c.finish, NULL, (unsigned)callers + 1);
    pthread_mutex_init(&c.turn_lock, NULL);
    pthread_cond_init(&c.turn_changed, NULL);
    for (int i = 0; i < callers; i++) {
        caller[i] = (struct caller){.crew = &c, .number = i};
        pthread_create(&caller[i].thread, NULL, call, &caller[i]);
    }
    long n = 1;
    double each = callers * (in_turns ? 100.0 : 1.0),
           *value = malloc((size_t)b->samples * sizeof(double));
    while (fastest(&c, n) < b->sample_ns && n < 1000000000) n *= 2;
    for (int i = 0; i < b->samples; i++) value[i] = run_crew(&c, n) / ((double)n * each);
    bench_print(name, "ns", bench_median(value, b->samples));
    char threads[64];
    snprintf(threads, sizeof threads, "%s-threads", name);
    bench_print(threads, "threads", live_threads());
    c.over = true;
    pthread_barrier_wait(&c.start);
    for (int i = 0; i < callers; i++) pthread_join(caller[i].thread, NULL);
    free(value);
}

int main(int argc, char **argv) {
    struct bench arguments = bench_arguments(argc, argv), *b = &arguments;
    omp_set_dynamic(0);
    bench_case(b, "main-thread", regions, 1);
    measure(b, "one-other-thread", 1, false);
    measure(b, "eight-in-turns", CALLERS, true);
    measure(b, "eight-at-once", CALLERS, false);
    return 0;
}
