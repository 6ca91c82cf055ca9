/* loaded.c: the cost of a region while another process wants a core.
 *
 * The other process computes for as long as the suite runs. "any" lets the kernel place it,
 * "pinned" keeps it on the first CPU. Figures are the mean over a whole run, which counts for a
 * program's progress, and the 99th percentile of single regions.
 */
#include "bench.h"

#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void region(const struct bench *b) {
#pragma omp parallel num_threads(b->threads)
    bench_keep();
}

static void barriers(const struct bench *b) {
#pragma omp parallel num_threads(b->threads)
    for (int i = 0; i < 10; i++) {
#pragma omp barrier
    }
}

/* 200 us of work for each thread, in pieces of about 10 us. */
static void work_static(const struct bench *b) {
#pragma omp parallel for num_threads(b->threads) schedule(static)
    for (int i = 0; i < 20 * b->threads; i++) bench_work(20000);
}

static void work_dynamic(const struct bench *b) {
#pragma omp parallel for num_threads(b->threads) schedule(dynamic)
    for (int i = 0; i < 20 * b->threads; i++) bench_work(20000);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { MOST = 200000 };

/* Repeats for samples x sample_ns, which covers many of the kernel's time slices. */
static void measure(const struct bench *b, const char *place, const char *what,
                    void (*body)(const struct bench *)) {
    char name[64], tail[80];
    snprintf(name, sizeof name, "%s-%s", what, place);
    snprintf(tail, sizeof tail, "%s-p99", name);
    if (!bench_wanted(b, name)) return;
    double *value = malloc(MOST * sizeof *value);
    for (int i = 0; i < 10; i++) body(b);
    double start = bench_now(), last = start, end = start + b->samples * b->sample_ns * 10;
    long count = 0;
    while (last < end || count < 3) {
        body(b);
        double now = bench_now();
        if (count < MOST) value[count] = now - last;
        count++;
        last = now;
    }
    long kept = count < MOST ? count : MOST;
    bench_print(name, "ns", (last - start) / (double)count);
    qsort(value, (size_t)kept, sizeof *value, by_size);
    bench_print(tail, "ns", value[(kept - 1) * 99 / 100]);
    free(value);
}

static void suite(const struct bench *b, const char *place) {
    measure(b, place, "parallel", region);
    measure(b, place, "barrier-x10", barriers);
    measure(b, place, "work-static", work_static);
    measure(b, place, "work-dynamic", work_dynamic);
}

int main(int argc, char **argv) {
    struct bench arguments = bench_arguments(argc, argv), *b = &arguments;
    for (int pinned = 0; pinned < 2; pinned++) {
        /* Each load has its own process, as the second load must also start before any region. */
        pid_t run = fork();
        if (run == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            /* Before the first region: an OpenMP runtime need not survive a fork. */
            pid_t load = b->list ? 0 : bench_start_load(pinned ? 0 : BENCH_ANYWHERE);
            omp_set_dynamic(0);
            suite(b, pinned ? "pinned" : "any");
            bench_stop_load(load);
            _exit(0);
        }
        int status = 0;
        if (waitpid(run, &status, 0) != run || status != 0) return 1;
    }
    return 0;
}
