/* paper.c: the measurements of ghc-openmp's published tables, sections 9.1, 9.2 and 9.6.
 *
 * Names and units are those of the tables. 9.1 has a region and a barrier (us), a million sines
 * with a reduction, and 1000 entries of a critical section by every thread (ms). 9.2: naive DGEMM
 * (ms). 9.6: deferred tasks of about 15.6 us, sequential and parallel (ms). The tables give the
 * best of several runs: use -b.
 */
#include "bench.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define TEAM num_threads(b->threads)

static void fork_joins(const struct bench *b, long n) {
    for (long i = 0; i < n * 1000; i++) {
#pragma omp parallel TEAM
        bench_keep();
    }
}

static void barriers(const struct bench *b, long n) {
#pragma omp parallel TEAM
    for (long i = 0; i < n * 1000; i++) {
#pragma omp barrier
    }
}

static void sines(const struct bench *b, long n) {
    for (long r = 0; r < n; r++) {
        double sum = 0;
#pragma omp parallel for TEAM reduction(+ : sum)
        for (int i = 0; i < 1000000; i++) sum += sin(i * 1e-3);
        bench_equal("sin-1M-ms", fabs(sum) < 2100, 1);
    }
}

static void criticals(const struct bench *b, long n) {
    long count = 0;
#pragma omp parallel TEAM
    for (long i = 0; i < n * 1000; i++) {
#pragma omp critical
        count++;
    }
    bench_equal("critical-1000-ms", count, n * 1000 * b->threads);
}

static int size;
static double *left, *right, *product;

static void multiply(const struct bench *b, long n) {
    for (long r = 0; r < n; r++) {
#pragma omp parallel for TEAM
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++) {
                double sum = 0;
                for (int k = 0; k < size; k++) sum += left[i * size + k] * right[k * size + j];
                product[i * size + j] = sum;
            }
    }
}

static void dgemm(const struct bench *b, int m) {
    char name[32];
    snprintf(name, sizeof name, "dgemm-%d", m);
    if (!bench_wanted(b, name)) return;
    size = m;
    size_t count = (size_t)m * (size_t)m;
    left = malloc(count * sizeof *left), right = malloc(count * sizeof *right);
    product = malloc(count * sizeof *product);
    for (size_t i = 0; i < count; i++) left[i] = (double)(i % 17), right[i] = (double)(i % 13);
    bench_once(b, name, multiply);
    double sum = 0;
    for (int k = 0; k < m; k++) sum += left[(m - 1) * m + k] * right[k * m + m - 1];
    bench_equal(name, product[count - 1] == sum, 1);
    free(left), free(right), free(product);
}

static int tasks;
static double result;

static double task_body(int number) {
    double sum = 0;
    for (int i = 0; i < 1000; i++) sum += sin((number + i) * 1e-3);
    return sum;
}

static void sequential(const struct bench *b, long n) {
    (void)b;
    for (long r = 0; r < n; r++) {
        result = 0;
        for (int i = 0; i < tasks; i++) result += task_body(i);
    }
}

static void deferred(const struct bench *b, long n) {
    double *part = malloc((size_t)tasks * sizeof *part), sum = 0;
    for (long r = 0; r < n; r++) {
#pragma omp parallel TEAM
#pragma omp single
        for (int i = 0; i < tasks; i++) {
#pragma omp task firstprivate(i)
            part[i] = task_body(i);
        }
    }
    for (int i = 0; i < tasks; i++) sum += part[i];
    bench_equal("tasks", sum == result, 1);
    free(part);
}

static void task_case(const struct bench *b, int count) {
    char name[32];
    tasks = count;
    sequential(b, 1);
    snprintf(name, sizeof name, "tasks-%d-sequential", count);
    bench_once(b, name, sequential);
    snprintf(name, sizeof name, "tasks-%d-parallel", count);
    bench_once(b, name, deferred);
}

/* Prints thousandths of the figure of bench_once: a body has 1000 constructs, and the unit is
 * microseconds for each. */
static void per_construct(const struct bench *b, const char *name, bench_body *body) {
    if (!bench_wanted(b, name)) return;
    double *value = malloc((size_t)b->samples * sizeof *value);
    body(b, 1);
    for (int i = 0; i < b->samples; i++) {
        double start = bench_now();
        body(b, 1);
        value[i] = (bench_now() - start) / 1e6;
    }
    double median = bench_median(value, b->samples);
    bench_print(name, "us", b->best ? value[0] : median);
    free(value);
}

int main(int argc, char **argv) {
    static const int counts[] = {100, 500, 1000, 5000, 10000};
    struct bench arguments = bench_arguments(argc, argv), *b = &arguments;
    omp_set_dynamic(0);
    per_construct(b, "fork-join", fork_joins);
    per_construct(b, "barrier", barriers);
    bench_once(b, "sin-1M", sines);
    bench_once(b, "critical-1000", criticals);
    /* The tables have only these combinations of size and team. */
    for (int m = 128; m <= 1024; m *= 2)
        if (b->threads == 4 || (m == 1024 && b->threads < 4)) dgemm(b, m);
    for (int i = 0; i < 5 && b->threads == 4; i++) task_case(b, counts[i]);
    return 0;
}
