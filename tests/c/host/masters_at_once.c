/* If the runtime chooses the size of regions (OMP_DYNAMIC), eight masters at once on two processors
 * share one worker. The runtime makes no worker without a processor for it.
 *
 * test: env OMP_DYNAMIC=true
 * test: not stock libgomp makes a pool of threads for each master */
#include "testing.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { MASTERS = 8, REGIONS = 2000, PROCESSORS = 2 };

static _Atomic pid_t worker;
static pthread_barrier_t start;

static void *work(void *unused) {
    (void)unused;
    pthread_barrier_wait(&start);
    for (int i = 0; i < REGIONS; i++) {
        int sum = 0;
#pragma omp parallel reduction(+ : sum)
        {
            CHECK(omp_get_num_threads() <= PROCESSORS);
            sum++;
            if (omp_get_thread_num() > 0) {
                pid_t nobody = 0, me = gettid();
                CHECK(atomic_compare_exchange_strong(&worker, &nobody, me) || nobody == me);
            }
        }
        CHECK(sum >= 1);
    }
    return NULL;
}

/* Starts the program again with two processors. */
static void begin_again(char **argv) {
    cpu_set_t all, two;
    sched_getaffinity(0, sizeof all, &all);
    if (CPU_COUNT(&all) <= PROCESSORS) return;
    CPU_ZERO(&two);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < PROCESSORS; cpu++)
        if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &two);
    CHECK(sched_setaffinity(0, sizeof two, &two) == 0);
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv) {
    (void)argc;
    begin_again(argv);
    test_limit(50);
    pthread_t master[MASTERS];
    pthread_barrier_init(&start, NULL, MASTERS);
    for (int i = 0; i < MASTERS; i++) CHECK(pthread_create(&master[i], NULL, work, NULL) == 0);
    for (int i = 0; i < MASTERS; i++) pthread_join(master[i], NULL);
    return 0;
}
