/* Transforms of FFTW, each run by several threads; prints a digest of each spectrum. */
#include <fftw3.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns the FNV-1a digest of some bytes. */
static uint64_t digest(const void *data, size_t bytes) {
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * 1099511628211u;
    return hash;
}

static void fill(double *values, size_t count) {
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < count; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        values[i] = (double)(int64_t)state / 9223372036854775808.0;
    }
}

/* Transforms there and back `rounds` times, and prints the last spectrum; the way back must give
 * the start. */
static void complex_transform(const char *name, int rank, const int *sizes, int rounds) {
    size_t count = 1;
    for (int i = 0; i < rank; i++) count *= (size_t)sizes[i];
    fftw_complex *start = fftw_alloc_complex(count), *values = fftw_alloc_complex(count);
    fftw_plan there = fftw_plan_dft(rank, sizes, values, values, FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_plan back = fftw_plan_dft(rank, sizes, values, values, FFTW_BACKWARD, FFTW_ESTIMATE);
    fill((double *)start, 2 * count);
    fill((double *)values, 2 * count);
    uint64_t hash = 0;
    for (int round = 0; round < rounds; round++) {
        fftw_execute(there);
        hash = digest(values, count * sizeof *values);
        fftw_execute(back);
        for (size_t i = 0; i < count; i++)
            for (int part = 0; part < 2; part++) values[i][part] /= (double)count;
    }
    double error = 0;
    for (size_t i = 0; i < count; i++)
        for (int part = 0; part < 2; part++)
            error = fmax(error, fabs(values[i][part] - start[i][part]));
    printf("%-24s %016lx, back again: %s\n", name, (unsigned long)hash,
           error < 1e-12 ? "yes" : "no");
    fftw_destroy_plan(there), fftw_destroy_plan(back);
    fftw_free(start), fftw_free(values);
}

static void real_transform(void) {
    enum { ROWS = 300, COLUMNS = 500 };
    double *values = fftw_alloc_real(ROWS * COLUMNS);
    fftw_complex *spectrum = fftw_alloc_complex(ROWS * (COLUMNS / 2 + 1));
    fftw_plan plan = fftw_plan_dft_r2c_2d(ROWS, COLUMNS, values, spectrum, FFTW_ESTIMATE);
    fill(values, ROWS * COLUMNS);
    fftw_execute(plan);
    printf("%-24s %016lx\n", "real, 300 x 500",
           (unsigned long)digest(spectrum, ROWS * (COLUMNS / 2 + 1) * sizeof *spectrum));
    fftw_destroy_plan(plan);
    fftw_free(values), fftw_free(spectrum);
}

int main(void) {
    const char *threads = getenv("OMP_NUM_THREADS");
    if (!fftw_init_threads()) return 1;
    fftw_plan_with_nthreads(threads ? atoi(threads) : 2);
    complex_transform("many small ones, 4096", 1, (int[]){4096}, 2000);
    complex_transform("large, 2^20", 1, (int[]){1 << 20}, 2);
    complex_transform("odd size, 3 * 5 * 7 * 997", 1, (int[]){104685}, 2);
    complex_transform("square, 512 x 512", 2, (int[]){512, 512}, 4);
    complex_transform("cube, 64 x 64 x 64", 3, (int[]){64, 64, 64}, 4);
    real_transform();
    fftw_cleanup_threads();
    return 0;
}
