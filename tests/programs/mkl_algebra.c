/* Dense algebra and a Fourier transform of MKL. The program opens MKL's libraries like a Python
 * program, and prints digests of each result's bytes, and whether the result is right. */
#include <complex.h>
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 600, POINTS = 1 << 17 };
enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };
enum { DFTI_DOUBLE = 36, DFTI_COMPLEX = 32 };

typedef void dgemm_function(int layout, int a_form, int b_form, int m, int n, int k, double alpha,
                            const double *a, int lda, const double *b, int ldb, double beta,
                            double *c, int ldc);
typedef int dgesv_function(int layout, int n, int right_sides, double *a, int lda, int *pivots,
                           double *b, int ldb);
typedef long create_function(void **handle, int precision, int domain, long dimensions, ...);
typedef long handle_function(void *handle, ...);

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
    double *numbers = aligned_alloc(64, length * sizeof *numbers);
    for (size_t i = 0; i < length; i++) {
        seed = seed * 1664525u + 1013904223u;
        numbers[i] = (double)(seed >> 8) / (1 << 24) - 0.5;
    }
    return numbers;
}

/* FNV-1a. */
static void tell(const char *what, const double *numbers, size_t length, double error) {
    uint64_t hash = 14695981039346656037u;
    const unsigned char *bytes = (const unsigned char *)numbers;
    for (size_t i = 0; i < length * sizeof *numbers; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    printf("%s %016llx %s\n", what, (unsigned long long)hash, error < 1e-9 ? "right" : "wrong");
}

static void product(void) {
    dgemm_function *dgemm = (dgemm_function *)find("cblas_dgemm");
    double *a = vector(SIZE * SIZE, 1), *b = vector(SIZE * SIZE, 2), *c = vector(SIZE * SIZE, 3),
           error = 0;
    dgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, SIZE, SIZE, SIZE, 1, a, SIZE, b, SIZE, 0, c, SIZE);
    for (int i = 0; i < SIZE; i += 37)
        for (int j = 0; j < SIZE; j += 41) {
            double sum = 0;
            for (int k = 0; k < SIZE; k++) sum += a[i * SIZE + k] * b[k * SIZE + j];
            error = fmax(error, fabs(sum - c[i * SIZE + j]));
        }
    tell("dgemm", c, SIZE * SIZE, error);
    free(a), free(b), free(c);
}

static void solution(void) {
    dgesv_function *dgesv = (dgesv_function *)find("LAPACKE_dgesv");
    double *a = vector(SIZE * SIZE, 4), *b = vector(SIZE, 5), *lu = vector(SIZE * SIZE, 4),
           *x = vector(SIZE, 5), error = 0;
    int *pivots = calloc(SIZE, sizeof *pivots);
    for (int i = 0; i < SIZE; i++) a[i * SIZE + i] += 20, lu[i * SIZE + i] += 20;
    if (dgesv(ROW_MAJOR, SIZE, 1, lu, SIZE, pivots, x, 1) != 0) error = 1;
    for (int i = 0; i < SIZE; i++) {
        double sum = -b[i];
        for (int k = 0; k < SIZE; k++) sum += a[i * SIZE + k] * x[k];
        error = fmax(error, fabs(sum));
    }
    tell("LU", lu, SIZE * SIZE, error);
    tell("solution", x, SIZE, error);
    free(a), free(b), free(lu), free(x), free(pivots);
}

static void transform(void) {
    create_function *create = (create_function *)find("DftiCreateDescriptor");
    handle_function *commit = (handle_function *)find("DftiCommitDescriptor");
    handle_function *forward = (handle_function *)find("DftiComputeForward");
    handle_function *backward = (handle_function *)find("DftiComputeBackward");
    double *numbers = vector(2 * POINTS, 6), *before = vector(2 * POINTS, 6), error = 0;
    void *handle = NULL;
    if (create(&handle, DFTI_DOUBLE, DFTI_COMPLEX, 1, (long)POINTS) || commit(handle) ||
        forward(handle, numbers))
        error = 1;
    tell("FFT", numbers, 2 * POINTS, error);
    if (backward(handle, numbers)) error = 1;
    for (int i = 0; i < 2 * POINTS; i++) error = fmax(error, fabs(numbers[i] / POINTS - before[i]));
    tell("and back", numbers, 2 * POINTS, error);
    free(numbers), free(before);
}

int main(int count, char **arguments) {
    library = dlopen(count > 1 ? arguments[1] : "libmkl_rt.so.3", RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        product();
        solution();
        transform();
    }
    return 0;
}
