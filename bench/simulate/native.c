/* native.c: the same paths on the real machine, to check the model.
 *
 * usage: paths [-t THREADS] [-r SAMPLES] [PATH...]
 *
 * Prints "path<TAB>kind<TAB>threads<TAB>nanoseconds" lines. "ours" is the libgomp.so.1 that the
 * dynamic linker finds. A transfer counts as a quarter of a round trip: on each way the writer
 * takes the line, and then the reader fetches it.
 */
#include "../bench.h"
#include "processor.h"
#include "scenario.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static double ns_per_transfer = 50;
static double turns_per_ns = 1;

double scenario_clock(void) {
    return bench_now();
}
double scenario_begin(void) {
    return bench_now();
}
void scenario_work(double transfers) {
    bench_work((long)(transfers * ns_per_transfer * turns_per_ns));
}
/* Gives the core away now and then, as another process may have taken the core of the awaited
 * thread. */
void scenario_relax(void) {
    static _Thread_local unsigned turns;
    if (++turns % 4096 == 0) sched_yield();
    cst_cpu_relax();
}

struct start {
    scenario_body *body;
    void *argument;
    int number;
    pthread_t thread;
};

static void *run_start(void *argument) {
    struct start *s = argument;
    s->body(s->argument, s->number);
    return NULL;
}

void scenario_threads(int threads, scenario_body *body, void *argument) {
    struct start *start = calloc((size_t)threads, sizeof *start);
    for (int i = 1; i < threads; i++) {
        start[i] = (struct start){.body = body, .argument = argument, .number = i};
        if (pthread_create(&start[i].thread, NULL, run_start, &start[i]) != 0) exit(1);
    }
    body(argument, 0);
    for (int i = 1; i < threads; i++) pthread_join(start[i].thread, NULL);
    free(start);
}

static void calibrate_work(void) {
    enum { TURNS = 2000000 };
    double start = bench_now();
    bench_work(TURNS);
    turns_per_ns = TURNS / (bench_now() - start);
}

/* Returns the present time of `transfers` worth of computation. */
static double time_of_work(double transfers) {
    enum { TIMES = 50 };
    if (transfers == 0) return 0;
    double start = bench_now();
    for (int i = 0; i < TIMES; i++) scenario_work(transfers);
    return (bench_now() - start) / TIMES;
}

int main(int argc, char **argv) {
    struct bench arguments = bench_arguments(argc, argv), *b = &arguments;
    double *value = calloc((size_t)b->samples, sizeof *value);
    calibrate_work();
    for (int i = 0; i < scenario_count; i++) {
        const struct scenario *s = &scenarios[i];
        if (i > 0 && !bench_wanted(b, s->name)) continue;
        long count = 20;
        while (count < 10000000 && s->run(b->threads, count) * (double)count < b->sample_ns)
            count *= 2;
        for (int r = 0; r < b->samples; r++)
            value[r] = s->run(b->threads, count) - time_of_work(s->work(b->threads));
        double median = bench_median(value, b->samples);
        if (i == 0) ns_per_transfer = median / 4;
        printf("%s\t%s\t%d\t%.6g\n", s->name, s->kind, b->threads, median);
        fflush(stdout);
    }
    free(value);
    return 0;
}
