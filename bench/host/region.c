/* region.c: the C side of the Haskell host programs: a region like that of a library.
 *
 * A thousand sines and two barriers are a few microseconds of work, so that the runtime's own cost
 * shows.
 */
#include <math.h>
#include <omp.h>
#include <stdatomic.h>

enum { SINES = 1000 };

static double sines(int from, int to) {
    double sum = 0;
    for (int i = from; i < to; i++) sum += sin(i * 1e-3);
    return sum;
}

double host_region(int threads) {
    double sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
#pragma omp for schedule(static)
        for (int i = 0; i < SINES; i++) sum += sin(i * 1e-3);
#pragma omp barrier
    }
    return sum;
}

/* The same work without a runtime. */
double host_plain(void) {
    return sines(0, SINES);
}

/* Gives each thread the same amount of work, enough to count; returns the sum of all.
 */
double host_work(int threads) {
    double sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    for (int round = 0; round < 20; round++) sum += sines(0, SINES) / 20;
    return sum;
}

/* Asks, spins for a lock, and opens a region of 0.2 ms, as OpenBLAS does. */
double host_locked(void) {
    static atomic_flag lock = ATOMIC_FLAG_INIT;
    int threads = omp_get_max_threads();
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) continue;
    double sum = host_work(threads) / threads;
    atomic_flag_clear_explicit(&lock, memory_order_release);
    return sum;
}
