/* The workers that served ended threads serve the next master, which makes no workers of its own.
 *
 * test: not stock libgomp's workers end with their master
 * test: env OMP_DYNAMIC=false
 */
#include "process.h"
#include <omp.h>
#include <pthread.h>

enum { MASTERS = 4 };

static pthread_barrier_t together;

static int region(int size) {
    int count = 0;
#pragma omp parallel num_threads(size) reduction(+ : count)
    count++;
    return count;
}

/* All masters live while each opens its region, so no two of them can have the same workers. */
static void *master(void *unused) {
    CHECK_EQ(region(2), 2);
    pthread_barrier_wait(&together);
    return unused;
}

int main(void) {
    test_limit(30);
    CHECK_EQ(region(1), 1); /* so the runtime knows this thread from the beginning */
    pthread_t thread[MASTERS];
    pthread_barrier_init(&together, NULL, MASTERS);
    for (int i = 0; i < MASTERS; i++) CHECK(pthread_create(&thread[i], NULL, master, NULL) == 0);
    for (int i = 0; i < MASTERS; i++) CHECK(pthread_join(thread[i], NULL) == 0);
    long before = settled_thread_count();
    CHECK_EQ(region(2), 2);
    CHECK(thread_count() <= before);
    return 0;
}
