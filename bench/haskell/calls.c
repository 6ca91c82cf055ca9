/* The functions that Haskell calls in these measurements: functions so short that only the call
 * counts, a copy, and loops with and without a region. */
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

/* Returns the nanoseconds of `copies` copies in C. */
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

/* Computes the sum with the number of threads that the runtime chooses. */
static double sines_anywhere(long count) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (long i = 0; i < count; i++) sum += sin((double)i * 1e-3);
    return sum;
}

/* Measures the time of each of `count` regions. With 0 threads the runtime chooses their number,
 * and may leave processors to others, also in later calls. C measures the time, as a return from a
 * foreign call to Haskell waits for a Capability, which is not part of a region. */
void calls_regions(int threads, int count, double *nanoseconds) {
    if (threads == 0) omp_set_dynamic(1);
    for (int i = 0; i < count; i++) {
        double start = now();
        double sum = threads > 0 ? calls_sines_parallel(40000, threads) : sines_anywhere(40000);
        nanoseconds[i] = isnan(sum) ? -1 : now() - start;
    }
}

/* Measures the same loops in one thread of C. */
void calls_loops(int count, double *nanoseconds) {
    for (int i = 0; i < count; i++) {
        double start = now();
        double sum = calls_sines(40000);
        nanoseconds[i] = isnan(sum) ? -1 : now() - start;
    }
}
