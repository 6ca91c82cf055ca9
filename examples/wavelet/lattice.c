/* lattice.c: see lattice.h. */
#include "lattice.h"

#include <string.h>

/* Below this number of elements a layer ends before a second thread has begun. */
#define WORTH_A_TEAM 8192

static inline void rotate(double *a, double *b, double c, double s) {
    double x = *a, y = *b;
    *a = c * x + s * y;
    *b = s * x - c * y;
}

void lattice(double *x, size_t n, const double *weights, size_t layers) {
    for (size_t layer = 0; layer < layers; layer++) {
        const double c = weights[2 * layer], s = weights[2 * layer + 1];
        const size_t shift = layer & 1;
        for (size_t i = shift; i + 1 < n; i += 2) rotate(&x[i], &x[i + 1], c, s);
        if (shift) rotate(&x[n - 1], &x[0], c, s);
    }
}

void lattice_parallel(double *x, size_t n, const double *weights, size_t layers) {
#pragma omp parallel if (n >= WORTH_A_TEAM)
    for (size_t layer = 0; layer < layers; layer++) {
        const double c = weights[2 * layer], s = weights[2 * layer + 1];
        const size_t shift = layer & 1;
        /* The last pair of a shifted layer is (n-1, 0). */
#pragma omp for schedule(static)
        for (size_t pair = 0; pair < n / 2; pair++) {
            size_t i = 2 * pair + shift;
            rotate(&x[i], &x[i + 1 < n ? i + 1 : 0], c, s);
        }
    }
}

/* Moves even elements to the front, and odd elements behind them. */
static void separate(double *x, double *spare, size_t n) {
    for (size_t i = 0; i < n / 2; i++) {
        spare[i] = x[2 * i];
        spare[n / 2 + i] = x[2 * i + 1];
    }
    memcpy(x, spare, n * sizeof *x);
}

static void separate_parallel(double *x, double *spare, size_t n) {
#pragma omp parallel if (n >= WORTH_A_TEAM)
    {
#pragma omp for schedule(static)
        for (size_t i = 0; i < n / 2; i++) {
            spare[i] = x[2 * i];
            spare[n / 2 + i] = x[2 * i + 1];
        }
#pragma omp for schedule(static)
        for (size_t i = 0; i < n; i++) x[i] = spare[i];
    }
}

void wavelet(double *x, double *spare, size_t n, const double *weights, size_t layers) {
    for (; n >= 4; n /= 2) {
        lattice(x, n, weights, layers);
        separate(x, spare, n);
    }
}

void wavelet_parallel(double *x, double *spare, size_t n, const double *weights, size_t layers) {
    for (; n >= 4; n /= 2) {
        lattice_parallel(x, n, weights, layers);
        separate_parallel(x, spare, n);
    }
}
