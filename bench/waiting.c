/* waiting.c: for each heuristic of waiting, the smallest program in which it matters.
 *
 * `capstan bench waiting` runs each case with its heuristic on and off in turn (CAPSTAN_WAIT), so a
 * case must show one heuristic and little else. Each case runs in its own process, and opens the
 * first region there. The processes that compute beside it start before. -t is the size of a team;
 * for the cases of crowded teams it must exceed the number of processors.
 */
#include "bench.h"

#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEAM num_threads(b->threads)

enum {
    FIRST_REGIONS = 40,
    GENERATIONS = 20,
    WORK_NS = 500000,
    PAUSE_US = 20000,
    LONG_WORK_NS = 2000000,
    BESIDE_NS = 1000000000
};

/* --- the repeated bodies -------------------------------------------------------------- */

static void regions(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) {
#pragma omp parallel TEAM
        bench_keep();
    }
}

static void barriers(const struct bench *b, long n) {
#pragma omp parallel TEAM
    for (long i = 0; i < n; i++) {
#pragma omp barrier
    }
}

static void regions_of_barriers(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) barriers(b, 10);
}

static void ordered(const struct bench *b, long n) {
    long sum = 0;
#pragma omp parallel for TEAM ordered schedule(static, 1)
    for (long i = 0; i < n; i++) {
#pragma omp ordered
        sum += i;
    }
    bench_equal("ordered", sum, n * (n - 1) / 2);
}

static void doacross(const struct bench *b, long n) {
    long sum = 0;
#pragma omp parallel for TEAM ordered(1) schedule(static, 1)
    for (long i = 0; i < n; i++) {
#pragma omp ordered depend(sink : i - 1)
        sum += i;
#pragma omp ordered depend(source)
    }
    bench_equal("doacross", sum, n * (n - 1) / 2);
}

static void regions_with_work(const struct bench *b, long n, long ns) {
    for (long i = 0; i < n; i++) {
#pragma omp parallel TEAM
        bench_work(ns);
    }
}

/* --- the measurement ------------------------------------------------------------------ */

/* For cases beside other processes: the mean over a time that covers many of the kernel's slices.
 * In a tenth of a second a process may still have credit with the kernel, and lose no slice. */
static void mean(const struct bench *b, const char *name, bench_body *body) {
    body(b, 3);
    double wanted = b->samples * b->sample_ns, begin = bench_now(), last = begin;
    double end = begin + (wanted > BESIDE_NS ? wanted : BESIDE_NS);
    long n = 0;
    for (; last < end || n < 3; n++) {
        body(b, 1);
        last = bench_now();
    }
    bench_print(name, "ns", (last - begin) / (double)n);
}

/* The first regions of a new process, once for each sample. */
static double first_regions(const struct bench *b, long n, long ns) {
    int ends[2];
    double time = 0;
    if (pipe(ends) != 0) exit(1);
    pid_t child = fork();
    if (child == 0) {
        double begin = bench_now();
        regions_with_work(b, n, ns);
        time = bench_now() - begin;
        _exit(write(ends[1], &time, sizeof time) != sizeof time);
    }
    int status = 1;
    if (child < 0 || read(ends[0], &time, sizeof time) != sizeof time ||
        waitpid(child, &status, 0) != child || status != 0)
        exit(1);
    close(ends[0]), close(ends[1]);
    return time;
}

static void first(const struct bench *b, const char *name, long n, long ns) {
    double *value = malloc((size_t)b->samples * sizeof *value), sum = 0;
    char tail[64];
    for (int i = 0; i < b->samples; i++) sum += value[i] = first_regions(b, n, ns);
    snprintf(tail, sizeof tail, "%s-mean", name);
    bench_print(name, "ns", bench_median(value, b->samples));
    bench_print(tail, "ns", sum / b->samples); /* only a few of many processes begin badly */
    free(value);
}

/* The median of a time that each sample returns. */
static void median(const struct bench *b, const char *name, double sample(const struct bench *b)) {
    double *value = malloc((size_t)b->samples * sizeof *value);
    for (int i = 0; i < b->samples; i++) value[i] = sample(b);
    bench_print(name, "ns", bench_median(value, b->samples));
    free(value);
}

static double after_pause(const struct bench *b) {
    usleep(PAUSE_US);
    double begin = bench_now();
    regions_with_work(b, 1, LONG_WORK_NS);
    return bench_now() - begin;
}

/* Generations of a process: each runs a few regions, forks the next one, and waits for it. A child
 * of libgomp's waits for ever for the workers that the fork did not copy. */
static double generations(const struct bench *b) {
    double begin = bench_now();
    pid_t first = getpid();
    for (int i = 0; i < GENERATIONS; i++) {
        regions(b, 10);
        pid_t child = fork();
        if (child == 0) continue;
        int status = 1;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) _exit(1);
        if (getpid() == first) return (bench_now() - begin) / GENERATIONS;
        _exit(0);
    }
    _exit(0);
}

/* --- cases ---------------------------------------------------------------------------- */

static void fork_join_case(const struct bench *b, const char *name) {
    bench_case(b, name, regions, 1);
}
static void barrier_case(const struct bench *b, const char *name) {
    bench_case(b, name, barriers, 1);
}
static void ordered_case(const struct bench *b, const char *name) {
    bench_case(b, name, ordered, 1);
}
static void doacross_case(const struct bench *b, const char *name) {
    bench_case(b, name, doacross, 1);
}
static void after_pause_case(const struct bench *b, const char *name) {
    regions(b, 10);
    median(b, name, after_pause);
}
static void generations_case(const struct bench *b, const char *name) {
    median(b, name, generations);
}
static void region_mean(const struct bench *b, const char *name) {
    mean(b, name, regions);
}
static void barriers_mean(const struct bench *b, const char *name) {
    mean(b, name, regions_of_barriers);
}
static void first_empty(const struct bench *b, const char *name) {
    first(b, name, FIRST_REGIONS, 0);
}
static void first_with_work(const struct bench *b, const char *name) {
    first(b, name, 10, WORK_NS);
}

/* The processes that compute beside the case. */
enum beside { NOBODY, ONE, ONE_EACH, FOUR_EACH };

static const struct {
    const char *name;
    void (*measure)(const struct bench *b, const char *name);
    enum beside beside;
} cases[] = {
    {"fork-join", fork_join_case, NOBODY},
    {"barrier", barrier_case, NOBODY},
    {"ordered", ordered_case, NOBODY},
    {"doacross", doacross_case, NOBODY},
    {"first-regions", first_empty, NOBODY},
    {"first-work", first_with_work, NOBODY},
    {"after-pause", after_pause_case, NOBODY},
    {"generations", generations_case, NOBODY},
    {"region-beside-one", region_mean, ONE},
    {"barriers-x10-beside-one", barriers_mean, ONE},
    {"region-beside-each", region_mean, ONE_EACH},
    {"region-beside-many", region_mean, FOUR_EACH},
    {"barriers-x10-beside-many", barriers_mean, FOUR_EACH},
};

/* Starts these processes; they end with this process. */
static void start_beside(const struct bench *b, enum beside beside) {
    if (beside == ONE) bench_start_load(BENCH_ANYWHERE);
    for (int i = 0; beside == ONE_EACH && i < b->cpus; i++) bench_start_load(i);
    for (int i = 0; beside == FOUR_EACH && i < 4 * b->cpus; i++) bench_start_load(BENCH_ANYWHERE);
}

int main(int argc, char **argv) {
    struct bench arguments = bench_arguments(argc, argv), *b = &arguments;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!bench_wanted(b, cases[i].name)) continue;
        pid_t run = fork();
        if (run == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            start_beside(
                b, cases[i].beside); /* before any region: a runtime need not survive a fork */
            omp_set_dynamic(0);
            cases[i].measure(b, cases[i].name);
            _exit(0);
        }
        int status = 0;
        if (waitpid(run, &status, 0) != run || status != 0) return 1;
    }
    return 0;
}
