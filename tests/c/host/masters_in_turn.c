/* Masters may together ask for more threads than the machine has processors. With OMP_DYNAMIC they
 * take turns, and the team of a master may serve the next master. Each region still has the
 * requested size, also if regions wait for each other or last long.
 *
 * test: env OMP_DYNAMIC=true
 * test: env OMP_DYNAMIC=true OMP_WAIT_POLICY=passive
 * test: env OMP_DYNAMIC=true OMP_WAIT_POLICY=active
 * test: env OMP_DYNAMIC=false
 * test: env OMP_DYNAMIC=true CAPSTAN_WAIT=turns:off
 */
#include "testing.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MASTERS = 8, REGIONS = 1500, MEETINGS = 3, FORKS = 20 };

static int threads; /* in a region: the number of processors, but at least 2 */
static pthread_barrier_t start;
static _Atomic int arrived, forked;

/* If OMP_DYNAMIC adjusts the size to the processors, one processor means one thread. */
static int size_of_region(void) {
    return omp_get_dynamic() && omp_get_num_procs() < threads ? omp_get_num_procs() : threads;
}

static void short_region(void) {
    int sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        CHECK_EQ(omp_get_num_threads(), size_of_region());
#pragma omp barrier
        sum++;
    }
    CHECK_EQ(sum, size_of_region());
}

static void *many(void *unused) {
    (void)unused;
    pthread_barrier_wait(&start);
    for (int i = 0; i < REGIONS; i++) short_region();
    return NULL;
}

/* No master leaves its region before all masters have begun theirs. */
static void *meet(void *unused) {
    (void)unused;
    pthread_barrier_wait(&start);
    for (int i = 1; i <= MEETINGS; i++) {
#pragma omp parallel num_threads(threads)
        if (omp_get_thread_num() == 0) {
            atomic_fetch_add(&arrived, 1);
            while (atomic_load(&arrived) < i * MASTERS) sched_yield();
        }
    }
    return NULL;
}

/* One master sleeps in its regions; the others go on. */
static void *some_sleep(void *number) {
    struct timespec nap = {.tv_nsec = 30000000};
    pthread_barrier_wait(&start);
    for (int i = 0; i < REGIONS / 30; i++) {
        if (number) {
            short_region();
        } else if (i < 10) {
#pragma omp parallel num_threads(threads)
            nanosleep(&nap, NULL);
        }
    }
    return NULL;
}

/* The masters of the parent wait for their turns; in the forked child no master is in the queue. */
static void *forks(void *number) {
    pthread_barrier_wait(&start);
    if (number) {
        while (atomic_load(&forked) < FORKS) short_region();
        return NULL;
    }
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            for (int k = 0; k < 3; k++) short_region();
            _exit(0);
        }
        int status = 1;
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        CHECK_EQ(status, 0);
        atomic_fetch_add(&forked, 1);
    }
    return NULL;
}

static void run(void *(*master)(void *)) {
    pthread_t thread[MASTERS];
    for (size_t i = 0; i < MASTERS; i++)
        CHECK(pthread_create(&thread[i], NULL, master, i ? thread : NULL) == 0);
    for (int i = 0; i < MASTERS; i++) pthread_join(thread[i], NULL);
}

int main(void) {
    test_limit(50);
    threads = omp_get_num_procs() < 2 ? 2 : omp_get_num_procs();
    pthread_barrier_init(&start, NULL, MASTERS);
    run(many);
    run(meet);
    run(some_sleep);
    run(forks);
    return 0;
}
