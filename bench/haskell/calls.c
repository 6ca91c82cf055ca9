/* What Haskell calls in these measurements: functions so short that only the call counts, a copy,
 * and loops with and without a region. */
#define _GNU_SOURCE
#include <math.h>
#include <omp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

long calls_next(long a) {
    return a + 1;
}

void calls_copy(double *to, const double *from, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = from[i];
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Nanoseconds that so many copies take when C makes them. */
double calls_copies(double *to, const double *from, size_t count, long copies) {
    double start = now();
    for (long i = 0; i < copies; i++) {
        calls_copy(to, from, count);
        __asm__ volatile("" ::: "memory");
    }
    return now() - start;
}

long calls_faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

double calls_sines(long count) {
    double sum = 0;
    for (long i = 0; i < count; i++) sum += sin((double)i * 1e-3);
    return sum;
}

double calls_sines_parallel(long count, int threads) {
    double sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum) schedule(static)
    for (long i = 0; i < count; i++) sum += sin((double)i * 1e-3);
    return sum;
}

/* The same with as many threads as the runtime thinks right. */
static double sines_anywhere(long count) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (long i = 0; i < count; i++) sum += sin((double)i * 1e-3);
    return sum;
}

/* How long each of so many regions takes; 0 threads: as many as the runtime thinks right. Measured
 * here: whoever returns from a foreign call to Haskell waits for a Capability, which is no matter
 * of regions. */
void calls_regions(int threads, int count, double *nanoseconds) {
    for (int i = 0; i < count; i++) {
        double start = now();
        double sum = threads > 0 ? calls_sines_parallel(40000, threads) : sines_anywhere(40000);
        nanoseconds[i] = isnan(sum) ? -1 : now() - start;
    }
}

/* The same loops by one thread of C alone. */
void calls_loops(int count, double *nanoseconds) {
    for (int i = 0; i < count; i++) {
        double start = now();
        double sum = calls_sines(40000);
        nanoseconds[i] = isnan(sum) ? -1 : now() - start;
    }
}
