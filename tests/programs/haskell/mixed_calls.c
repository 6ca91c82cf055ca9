/* The functions that Mixed.hs calls: code that GCC compiled, code that clang compiled, and MKL. The
 * code of clang and MKL are libraries, which the first call opens by the paths in MIXED_CLANG and
 * MIXED_MKL. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

typedef long sum_function(long);
typedef void dgemm_function(int layout, int a_form, int b_form, int m, int n, int k, double alpha,
                            const double *a, int lda, const double *b, int ldb, double beta,
                            double *c, int ldc);

static sum_function *clang_sum;
static dgemm_function *dgemm;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *find(const char *variable, const char *name) {
    const char *path = getenv(variable);
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    return library ? dlsym(library, name) : NULL;
}

static void open_both(void) {
    clang_sum = (sum_function *)find("MIXED_CLANG", "clang_sum");
    dgemm = (dgemm_function *)find("MIXED_MKL", "cblas_dgemm");
}

/* Returns the sum of the numbers below n, or -1 if the code is missing. */
long mixed_gcc(long n) {
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (long i = 0; i < n; i++) sum += i;
    return sum;
}

long mixed_clang(long n) {
    pthread_once(&once, open_both);
    return clang_sum ? clang_sum(n) : -1;
}

/* Multiplies matrices whose product is known, and returns the largest error, or -1 without MKL. */
double mixed_mkl(int n) {
    enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };
    pthread_once(&once, open_both);
    if (!dgemm) return -1;
    size_t all = (size_t)n * (size_t)n;
    double *a = malloc(all * sizeof *a), *b = malloc(all * sizeof *b), *c = malloc(all * sizeof *c),
           error = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[i * n + j] = i + 1, b[i * n + j] = j == 0 ? 1 : 1.0 / (j + 1);
    dgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, n, n, n, 1, a, n, b, n, 0, c, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            error = fmax(error, fabs(c[i * n + j] - n * (i + 1.0) / (j + 1)));
    free(a), free(b), free(c);
    return error;
}
