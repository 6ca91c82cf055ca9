/* Products by OpenBLAS's wheel, called in regions: every member gets the result of a single caller,
 * bit by bit. Prints a digest of the products. */
#include <dlfcn.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 160, ROW_MAJOR = 101, AS_IT_IS = 111, ROUNDS = 40 };

typedef void gemm(int order, int first, int second, int64_t m, int64_t n, int64_t k, double alpha,
                  const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                  double *c, int64_t ldc);

static double matrix[SIZE * SIZE], alone[SIZE * SIZE];

static void multiply(gemm *product, double *to) {
    product(ROW_MAJOR, AS_IT_IS, AS_IT_IS, SIZE, SIZE, SIZE, 1, matrix, SIZE, matrix, SIZE, 0, to,
            SIZE);
}

int main(int count, char **arguments) {
    void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    gemm *product = library ? (gemm *)dlsym(library, "scipy_cblas_dgemm64_") : NULL;
    if (!product) {
        fprintf(stderr, "no product: %s\n", dlerror());
        return 1;
    }
    for (int i = 0; i < SIZE * SIZE; i++) matrix[i] = (double)(i * 7919 % 1013) / 1013 - 0.5;
    multiply(product, alone);
    int different = 0;
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(3) reduction(+ : different)
        {
            double *own = malloc(sizeof alone);
            for (int i = 0; i < 5; i++) {
                multiply(product, own);
                different += memcmp(own, alone, sizeof alone) != 0;
            }
            free(own);
        }
    }
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < sizeof alone; i++)
        hash = (hash ^ ((unsigned char *)alone)[i]) * 1099511628211u;
    printf("%016lx, different: %d\n", (unsigned long)hash, different);
    return 0;
}
