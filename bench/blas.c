/* blas.c: an OpenBLAS with its own threads, beside OpenMP's regions.
 *
 * - product: a product of matrices by itself.
 * - alternate: a product, then a region that computes for about as long, as in a fit of
 *   scikit-learn.
 * - nested: each member of a region requests a product.
 * - callers: threads without OpenMP, as many as the team has, request products at once.
 *
 * The number behind a name is the size of the matrices. The variable OPENBLAS holds the path of the
 * library, from a wheel (scipy_cblas_dgemm64_). Without it nothing is measured.
 */
#include "bench.h"

#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, AS_IT_IS = 111, MOST = 512, CALLERS = 64 };

typedef void gemm(int order, int first, int second, int64_t m, int64_t n, int64_t k, double alpha,
                  const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                  double *c, int64_t ldc);

static gemm *product;
static void (*set_threads)(int);
static double *matrix, *result[CALLERS];
static int size;
static long turns; /* turns of work for each thread of a region */

static void multiply(double *to) {
    product(ROW_MAJOR, AS_IT_IS, AS_IT_IS, size, size, size, 1, matrix, size, matrix, size, 0, to,
            size);
}

static void products(const struct bench *b, long n) {
    (void)b;
    for (long r = 0; r < n; r++) multiply(result[0]);
}

static void alternate(const struct bench *b, long n) {
    for (long r = 0; r < n; r++) {
        multiply(result[0]);
#pragma omp parallel num_threads(b->threads)
        bench_work(turns);
    }
}

static void nested(const struct bench *b, long n) {
    for (long r = 0; r < n; r++) {
#pragma omp parallel num_threads(b->threads)
        multiply(result[omp_get_thread_num()]);
    }
}

static void *call(void *to) {
    for (int i = 0; i < 20; i++) multiply(to);
    return NULL;
}

static void callers(const struct bench *b, long n) {
    pthread_t thread[CALLERS];
    for (long r = 0; r < n; r++) {
        for (int i = 0; i < b->threads; i++) pthread_create(&thread[i], NULL, call, result[i]);
        for (int i = 0; i < b->threads; i++) pthread_join(thread[i], NULL);
    }
}

static void open_library(const struct bench *b, const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "blas: %s\n", dlerror());
        exit(1);
    }
    *(void **)&product = dlsym(library, "scipy_cblas_dgemm64_");
    *(void **)&set_threads = dlsym(library, "scipy_openblas_set_num_threads64_");
    if (!product || !set_threads) {
        fprintf(stderr, "blas: %s has not the names of numpy's wheel\n", path);
        exit(1);
    }
    set_threads(b->threads);
    unsigned (*adopt)(const void *);
    *(void **)&adopt = dlsym(RTLD_DEFAULT, "capstan_adopt");
    if (adopt) adopt(NULL);
}

int main(int argc, char **argv) {
    struct bench arguments = bench_arguments(argc, argv), *b = &arguments;
    static const int sizes[] = {64, 200, 500};
    const char *path = getenv("OPENBLAS");
    if (!path || b->threads > CALLERS) return 0;
    open_library(b, path);
    matrix = malloc(MOST * MOST * sizeof *matrix);
    for (int i = 0; i < MOST * MOST; i++) matrix[i] = (double)(bench_mix((uint64_t)i) >> 40);
    for (int i = 0; i < CALLERS; i++) result[i] = malloc(MOST * MOST * sizeof *matrix);
    for (int i = 0; i < 3; i++) {
        static bench_body *const body[] = {products, alternate, nested, callers};
        static const char *const name[] = {"product", "alternate", "nested", "callers"};
        size = sizes[i];
        /* A processor does 16 000 million operations a second. */
        turns = (long)(2.0 * size * size * size / 16 / b->threads);
        for (int k = 0; k < 4; k++) {
            char text[32];
            snprintf(text, sizeof text, "%s-%d", name[k], size);
            if (bench_wanted(b, text)) bench_case(b, text, body[k], k == 3 ? 20.0 * b->threads : 1);
        }
    }
    return 0;
}
