/* Threads that compute while Haskell collects: as a region, and as plain threads without one. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static atomic_int stop, running;

static uint64_t compute(void) {
    uint64_t x = 1;
    atomic_fetch_add(&running, 1);
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        for (int i = 0; i < 1000; i++) x = x * 6364136223846793005u + 1442695040888963407u;
    atomic_fetch_sub(&running, 1);
    return x;
}

static void *thread(void *unused) {
    (void)unused;
    return (void *)(uintptr_t)compute();
}

/* Computes in a region until hold_end is called. */
uint64_t hold_region(int threads) {
    uint64_t sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    sum += compute();
    return sum;
}

/* Computes in plain threads until hold_end is called. */
uint64_t hold_plain(int threads) {
    pthread_t other[threads];
    uint64_t sum;
    for (int i = 1; i < threads; i++) pthread_create(&other[i], NULL, thread, NULL);
    sum = compute();
    for (int i = 1; i < threads; i++) {
        void *result;
        pthread_join(other[i], &result);
        sum += (uintptr_t)result;
    }
    return sum;
}

int hold_running(void) {
    return atomic_load(&running);
}

void hold_end(void) {
    atomic_store(&stop, 1);
    while (atomic_load(&running) > 0)
        ;
    atomic_store(&stop, 0);
}
