/* Two masters ask for the number of threads before each region, and each region waits for one of
 * the other master. A wait for a turn is in vain here, so the masters learn not to wait.
 * test: env OMP_DYNAMIC=true
 * test: env OMP_DYNAMIC=false
 * test: env OMP_WAIT_POLICY=passive
 */
#include "testing.h"
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { ALONE = 10, TOGETHER = 2000 }; /* with a wait in each: eight minutes */

static _Atomic int begun[2];

/* All regions begin after a question at one place in the code. */
__attribute__((noinline)) static void open_region(int own, int round) {
    int threads = omp_get_max_threads();
#pragma omp parallel num_threads(threads)
    {
        CHECK(omp_get_num_threads() <= threads);
#pragma omp masked
        {
            begun[own] = round;
            while (begun[!own] < round) sched_yield();
        }
    }
}

static void *master(void *argument) {
    for (int round = 1; round <= TOGETHER; round++) open_region(argument != NULL, round);
    return NULL;
}

int main(void) {
    test_limit(60);
    for (int i = 0; i < ALONE; i++) open_region(0, 0);
    pthread_t other;
    CHECK(pthread_create(&other, NULL, master, &other) == 0);
    master(NULL);
    CHECK(pthread_join(other, NULL) == 0);
    return 0;
}
