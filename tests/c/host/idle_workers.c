/* After a burst of masters the idle workers end after a while, except one for each processor.
 * Workers that are kept for a thread stay, with its threadprivate variables, however long the
 * thread opens no region.
 *
 * test: env CAPSTAN_IDLE_MS=20
 * test: env CAPSTAN_IDLE_MS=20 OMP_WAIT_POLICY=active
 * test: env CAPSTAN_IDLE_MS=20 CAPSTAN_WAIT=spin:off
 */
#define _GNU_SOURCE
#include "process.h"
#include <omp.h>
#include <pthread.h>

enum { MASTERS = 40, KEPT = 6 };

static pthread_barrier_t barrier;

static int mine;
#pragma omp threadprivate(mine)

static void *master(void *unused) {
    int count = 0;
    pthread_barrier_wait(&barrier);
#pragma omp parallel num_threads(3) reduction(+ : count)
    {
        count++;
        if (omp_get_thread_num() == 0) pthread_barrier_wait(&barrier);
    }
    CHECK_EQ(count, 3);
    return unused;
}

static void burst(void) {
    pthread_t threads[MASTERS];
    CHECK(pthread_barrier_init(&barrier, NULL, MASTERS) == 0);
    for (int i = 0; i < MASTERS; i++) CHECK(pthread_create(&threads[i], NULL, master, NULL) == 0);
    for (int i = 0; i < MASTERS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    pthread_barrier_destroy(&barrier);
}

/* Waits without a limit; the alarm ends a process whose workers stay. */
static void await_threads(long most) {
    while (thread_count() > most) pause_ms(5);
}

int main(void) {
    test_limit(60);
#pragma omp parallel num_threads(KEPT)
    mine = 100 + omp_get_thread_num();
    long base = settled_thread_count();
    for (int round = 0; round < 5; round++) {
        burst();
        await_threads(base + omp_get_num_procs());
        pause_ms(60);
#pragma omp parallel num_threads(KEPT)
        {
            CHECK_EQ(omp_get_num_threads(), KEPT);
            CHECK_EQ(mine, 100 + omp_get_thread_num());
        }
    }
    return 0;
}
