/* Atomics without a machine instruction (long double, structures of several reductions) use a
 * single lock of the library, which excludes every thread of the process.
 *
 * test: not clang clang calls libatomic for long double
 */
#include "testing.h"
#include <complex.h>
#include <omp.h>
#include <pthread.h>

void GOMP_atomic_start(void);
void GOMP_atomic_end(void);

static int inside;

static void window(void) {
#pragma omp parallel num_threads(4)
    for (int round = 0; round < 500; round++) {
        GOMP_atomic_start();
        CHECK_EQ(INCREMENT(&inside), 1);
        sched_yield();
        CHECK_EQ(DECREMENT(&inside), 0);
        GOMP_atomic_end();
    }
}

static void *window_master(void *unused) {
    window();
    return unused;
}

static void between_teams(void) {
    pthread_t masters[3];
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&masters[i], NULL, window_master, NULL) == 0);
    for (int i = 0; i < 3; i++) pthread_join(masters[i], NULL);
}

static void long_double_sum(void) {
    enum { ROUNDS = 100000, THREADS = 4 };
    long double sum = 0;
#pragma omp parallel num_threads(THREADS)
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp atomic
        sum += 1;
    }
    CHECK(sum == (long double)ROUNDS * THREADS);
}

static void captured(void) {
    enum { ROUNDS = 20000, THREADS = 4 };
    static char seen[ROUNDS * THREADS];
    long double next = 0;
#pragma omp parallel num_threads(THREADS)
    for (int round = 0; round < ROUNDS; round++) {
        long double mine;
#pragma omp atomic capture
        mine = next++;
        INCREMENT(&seen[(int)mine]);
    }
    for (int i = 0; i < ROUNDS * THREADS; i++) CHECK_EQ(seen[i], 1);
}

/* The members combine several reduction variables under this lock. */
static void several_reductions(void) {
    for (int round = 0; round < 2000; round++) {
        long a = 0, b = 1;
        double _Complex c = 0;
#pragma omp parallel num_threads(4) reduction(+ : a, c) reduction(* : b)
        {
            a += 1 + omp_get_thread_num();
            b *= 2;
            c += 1 + 2 * I;
        }
        CHECK_EQ(a, 10);
        CHECK_EQ(b, 16);
        CHECK(creal(c) == 4 && cimag(c) == 8);
    }
}

int main(void) {
    test_limit(50);
    window();
    between_teams();
    long_double_sum();
    captured();
    several_reductions();
    return 0;
}
