/* parallel makes a team of the requested size: different threads, numbered from 0, that run at the
 * same time. An if clause or a nesting limit reduces the team to one thread.
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 * test: env CAPSTAN_WAIT=spin:off
 * test: env CAPSTAN_WAIT=yield:off
 * test: env CAPSTAN_WAIT=costs:off
 * test: env CAPSTAN_WAIT=rivals:off
 * test: env CAPSTAN_WAIT=haskell:off
 * test: env CAPSTAN_WAIT=apart:off
 * test: env CAPSTAN_WAIT=giveway:off
 * test: env CAPSTAN_WAIT=wake:off
 * test: env CAPSTAN_WAIT=newcomer:off
 * test: env CAPSTAN_WAIT=turns:off
 * test: env CAPSTAN_WAIT=patience:off
 * test: env CAPSTAN_WAIT=all:off
 */
#define _GNU_SOURCE
#include "testing.h"
#include <omp.h>
#include <pthread.h>
#include <sys/syscall.h>

enum { MOST = 40 };

/* All threads exist at once: each waits for all the others, by a counter of the program. */
static void real_threads(int size) {
    int here = 0, seen[MOST] = {0};
    long thread[MOST] = {0};
#pragma omp parallel num_threads(size)
    {
        int me = omp_get_thread_num();
        CHECK_EQ(omp_get_num_threads(), size);
        CHECK(me >= 0 && me < size);
        INCREMENT(&seen[me]);
        thread[me] = syscall(SYS_gettid);
        INCREMENT(&here);
        AWAIT(&here, size);
    }
    for (int a = 0; a < size; a++) {
        CHECK_EQ(seen[a], 1);
        for (int b = 0; b < a; b++) CHECK(thread[a] != thread[b]);
    }
    CHECK_EQ(thread[0], syscall(SYS_gettid)); /* the master is the thread that called */
}

/* Team sizes change from region to region. */
static void alternating(void) {
    const int sizes[] = {2, 8, 3, 1, 8, 2, 5, 1, 1, 40, 2, 7};
    for (int round = 0; round < 240; round++) {
        int size = sizes[round % 12], count = 0;
#pragma omp parallel num_threads(size)
        {
            CHECK_EQ(omp_get_num_threads(), size);
            INCREMENT(&count);
#pragma omp barrier
            CHECK_EQ(GET(&count), size);
        }
    }
}

static void if_clause(void) {
    for (int yes = 0; yes < 2; yes++) {
#pragma omp parallel num_threads(4) if (yes)
        {
            CHECK_EQ(omp_get_num_threads(), yes ? 4 : 1);
            CHECK_EQ(omp_in_parallel(), yes);
            CHECK_EQ(omp_get_level(), 1);
            CHECK_EQ(omp_get_active_level(), yes);
        }
    }
}

/* OpenMP 5.2, 5.1: without a clause the control variable decides. */
static void number_from_icv(void) {
    for (int size = 1; size <= 6; size++) {
        omp_set_num_threads(size);
        CHECK_EQ(omp_get_max_threads(), size);
#pragma omp parallel
        CHECK_EQ(omp_get_num_threads(), size);
#pragma omp parallel num_threads(2)
        {
            CHECK_EQ(omp_get_num_threads(), 2);
            CHECK_EQ(omp_get_max_threads(), size);
        }
    }
}

/* Shared, firstprivate and reduction variables reach the members. */
static void arguments(void) {
    int shared = 7, first = 8, reduced = 1;
    signed char array[3000];
    for (unsigned i = 0; i < sizeof array; i++) array[i] = (signed char)i;
#pragma omp parallel num_threads(3) firstprivate(first, array) reduction(+ : reduced)
    {
        CHECK_EQ(shared, 7);
        CHECK_EQ(first, 8);
        for (unsigned i = 0; i < sizeof array; i++) CHECK_EQ(array[i], (signed char)i);
        first = array[5] = -1;
        reduced += omp_get_thread_num();
#pragma omp barrier
        CHECK_EQ(first, -1);
    }
    CHECK_EQ(first, 8);
    CHECK_EQ(array[5], 5);
    CHECK_EQ(reduced, 4);
}

/* A member has a stack of more than 1 MiB. */
static long deep(int depth) {
    volatile char frame[1024];
    frame[0] = (char)depth;
    return depth == 0 ? 0 : deep(depth - 1) + frame[0] - (char)depth + 1;
}

static void stack(void) {
#pragma omp parallel num_threads(4)
    CHECK_EQ(deep(1000), 1000); /* over 1 MiB */
}

int main(void) {
    test_limit(50);
    for (int size = 1; size <= MOST; size = size * 3 / 2 + 1) real_threads(size);
    real_threads(2);
    alternating();
    if_clause();
    number_from_icv();
    arguments();
    stack();
    return 0;
}
