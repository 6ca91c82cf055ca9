/* Products of an OpenBLAS that is opened by its path: prints digests of each result's bytes, and
 * whether the result is right. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, UPPER = 121, LEFT = 141, NOT_UNIT = 131 };

typedef void dgemm_function(int layout, int a_form, int b_form, int m, int n, int k, double alpha,
                            const double *a, int lda, const double *b, int ldb, double beta,
                            double *c, int ldc);
typedef void dgemv_function(int layout, int form, int m, int n, double alpha, const double *a,
                            int lda, const double *x, int x_step, double beta, double *y,
                            int y_step);
typedef void dtrsm_function(int layout, int side, int half, int form, int unit, int m, int n,
                            double alpha, const double *a, int lda, double *b, int ldb);
typedef void daxpy_function(int n, double alpha, const double *x, int x_step, double *y,
                            int y_step);

static void *library;

static void *find(const char *name) {
    void *at = dlsym(library, name);
    if (!at) {
        fprintf(stderr, "no %s\n", name);
        exit(1);
    }
    return at;
}

static double *vector(size_t length, unsigned seed) {
    double *numbers = aligned_alloc(64, (length * sizeof *numbers + 63) / 64 * 64);
    for (size_t i = 0; i < length; i++) {
        seed = seed * 1664525u + 1013904223u;
        numbers[i] = (double)(seed >> 8) / (1 << 24) - 0.5;
    }
    return numbers;
}

/* FNV-1a. */
static void tell(const char *what, int n, const double *numbers, size_t length, double error) {
    uint64_t hash = 14695981039346656037u;
    const unsigned char *bytes = (const unsigned char *)numbers;
    for (size_t i = 0; i < length * sizeof *numbers; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    printf("%s %d %016llx %s\n", what, n, (unsigned long long)hash,
           error < 1e-8 ? "right" : "wrong");
}

static void product(int n) {
    dgemm_function *dgemm = (dgemm_function *)find("cblas_dgemm");
    dgemv_function *dgemv = (dgemv_function *)find("cblas_dgemv");
    dtrsm_function *dtrsm = (dtrsm_function *)find("cblas_dtrsm");
    size_t all = (size_t)n * (size_t)n;
    double *a = vector(all, 1), *b = vector(all, 2), *c = vector(all, 3), *x = vector((size_t)n, 4),
           *y = vector((size_t)n, 5);
    double error = 0;
    dgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, n, n, n, 1, a, n, b, n, 0, c, n);
    for (int i = 0; i < n; i += 13) {
        double sum = 0;
        for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + i];
        error = fmax(error, fabs(sum - c[i * n + i]));
    }
    tell("dgemm", n, c, all, error);
    dgemv(ROW_MAJOR, NO_TRANSPOSE, n, n, 1, a, n, x, 1, 0, y, 1);
    error = 0;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < n; k++) sum += a[i * n + k] * x[k];
        error = fmax(error, fabs(sum - y[i]));
    }
    tell("dgemv", n, y, (size_t)n, error);
    for (int i = 0; i < n; i++) a[i * n + i] += n;
    dtrsm(ROW_MAJOR, LEFT, UPPER, NO_TRANSPOSE, NOT_UNIT, n, n, 1, a, n, b, n);
    double *before = vector(all, 2);
    error = 0;
    for (int i = 0; i < n; i += 7)
        for (int j = 0; j < n; j += 11) {
            double sum = 0;
            for (int k = i; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            error = fmax(error, fabs(sum - before[i * n + j]));
        }
    tell("dtrsm", n, b, all, error);
    free(a), free(b), free(c), free(x), free(y), free(before);
}

static void sums(int n) {
    daxpy_function *daxpy = (daxpy_function *)find("cblas_daxpy");
    double *x = vector((size_t)n, 6), *y = vector((size_t)n, 7), *before = vector((size_t)n, 7),
           error = 0;
    for (int i = 0; i < 50; i++) daxpy(n, 0.5, x, 1, y, 1);
    for (int i = 0; i < n; i++) error = fmax(error, fabs(before[i] + 25 * x[i] - y[i]));
    tell("daxpy", n, y, (size_t)n, error);
    free(x), free(y), free(before);
}

int main(int count, char **arguments) {
    library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    if (!library) {
        fprintf(stderr, "%s\n", count > 1 ? dlerror() : "say which OpenBLAS");
        return 1;
    }
    static const int sizes[] = {3, 50, 200, 333, 500};
    for (int i = 0; i < 5; i++) product(sizes[i]);
    sums(20000);
    sums(300000);
    return 0;
}
