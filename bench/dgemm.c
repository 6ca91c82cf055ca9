/* dgemm.c: programs that compute for long, in which a runtime has little to add.
 *
 * The naive triple loop over N x N matrices (N = 128, 256, 512, 1024), and the sum of a million
 * sines. Figures are milliseconds for the whole. Results are checked.
 */
#include "bench.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static double *a, *x, *c;
static int size;

static void multiply(const struct bench *b, long n) {
    int m = size;
    for (long r = 0; r < n; r++) {
#pragma omp parallel for num_threads(b->threads) schedule(static)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) {
                double sum = 0;
                for (int k = 0; k < m; k++) sum += a[i * m + k] * x[k * m + j];
                c[i * m + j] = sum;
            }
    }
}

/* Compares one row with the same sums in the same order: they must agree to the last bit. */
static void check(const char *name) {
    int m = size, wrong = 0;
    for (int row = 0; row < m; row += m - 1)
        for (int j = 0; j < m; j++) {
            double sum = 0;
            for (int k = 0; k < m; k++) sum += a[row * m + k] * x[k * m + j];
            wrong += sum != c[row * m + j];
        }
    bench_equal(name, wrong, 0);
}

static void dgemm(const struct bench *b, int m) {
    char name[32];
    snprintf(name, sizeof name, "dgemm-%d", m);
    if (!bench_wanted(b, name)) return;
    size = m;
    size_t bytes = (size_t)m * (size_t)m * sizeof(double);
    a = malloc(bytes), x = malloc(bytes), c = malloc(bytes);
    for (int i = 0; i < m * m; i++) {
        a[i] = (double)(bench_mix((uint64_t)i) >> 40);
        x[i] = (double)(bench_mix((uint64_t)i + 1000000007u) >> 40);
        c[i] = 0;
    }
    bench_once(b, name, multiply);
    check(name);
    free(a), free(x), free(c);
}

enum { SINES = 1000000 };

static void sines(const struct bench *b, long n) {
    double expected = 0;
    for (long r = 0; r < n; r++) {
        double sum = 0;
#pragma omp parallel for num_threads(b->threads) reduction(+ : sum) schedule(static)
        for (int i = 0; i < SINES; i++) sum += sin(i * 1e-3);
        expected = 2 * sin(0.5e-3 * SINES) * sin(0.5e-3 * (SINES - 1)) / (2 * sin(0.5e-3));
        bench_equal("sin-1M", fabs(sum - expected) < 1e-6, 1);
    }
}

int main(int argc, char **argv) {
    struct bench arguments = bench_arguments(argc, argv), *b = &arguments;
    omp_set_dynamic(0);
    bench_once(b, "sin-1M", sines);
    for (int m = 128; m <= 1024; m *= 2) dgemm(b, m);
    return 0;
}
