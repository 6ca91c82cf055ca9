/* The schedules of loops: static as the specification fixes it, dynamic and guided by demand and in
 * chunks, monotonic in rising order. */
#include "testing.h"
#include <omp.h>

enum { TRIPS = 240 };

static int by[TRIPS];

/* Under a schedule by demand one member may be stuck in an iteration while the others do the rest.
 * Iteration 0 waits until all iterations outside its own chunk are done. */
#define BY_DEMAND(clause, own, type)                                                               \
    do {                                                                                           \
        int done = 0;                                                                              \
        _Pragma(clause) for (type i = 0; i < TRIPS; i++) {                                         \
            if (i == 0) AWAIT(&done, TRIPS - (own));                                               \
            INCREMENT(&done);                                                                      \
        }                                                                                          \
        CHECK_EQ(done, TRIPS);                                                                     \
    } while (0)

static void by_demand(void) {
    BY_DEMAND("omp parallel for schedule(dynamic) num_threads(3)", 1, int);
    BY_DEMAND("omp parallel for schedule(dynamic, 5) num_threads(3)", 5, int);
    BY_DEMAND("omp parallel for schedule(monotonic: dynamic, 5) num_threads(3)", 5, long);
    BY_DEMAND("omp parallel for schedule(dynamic, 5) num_threads(3)", 5, unsigned long long);
    /* The first guided chunk has at most the number of all iterations divided by the number of
     * members. */
    BY_DEMAND("omp parallel for schedule(guided) num_threads(3)", TRIPS / 3, int);
    BY_DEMAND("omp parallel for schedule(guided) num_threads(3)", TRIPS / 3, unsigned long long);
    omp_set_schedule(omp_sched_dynamic, 4);
    BY_DEMAND("omp parallel for schedule(runtime) num_threads(3)", 4, int);
    BY_DEMAND("omp parallel for schedule(runtime) num_threads(3)", 4, unsigned long long);
    omp_set_schedule(omp_sched_guided, 4);
    BY_DEMAND("omp parallel for schedule(runtime) num_threads(3)", TRIPS / 3, int);
}

/* Later guided chunks are smaller. Iteration 80 lies in a chunk of at most 54 iterations, a third
 * of the 160 that are left after the first chunk. In a static block of 80 it would wait for
 * itself. */
static void guided_shrinks(void) {
    int done = 0;
#pragma omp parallel for schedule(guided) num_threads(3)
    for (int i = 0; i < TRIPS; i++) {
        if (i == TRIPS / 3) AWAIT(&done, TRIPS - 60);
        INCREMENT(&done);
    }
    done = 0;
#pragma omp parallel for schedule(guided) num_threads(3)
    for (unsigned long long i = 0; i < TRIPS; i++) {
        if (i == TRIPS / 3) AWAIT(&done, TRIPS - 60);
        INCREMENT(&done);
    }
}

/* Each aligned chunk is executed by one member. */
static void expect_chunks(int chunk) {
    for (int i = 0; i < TRIPS; i++) CHECK_EQ(by[i], by[i / chunk * chunk]);
}

static void chunks_stay_whole(void) {
    for (int chunk = 1; chunk <= 100; chunk = chunk * 3 + 1) {
#pragma omp parallel for schedule(dynamic, chunk) num_threads(4)
        for (int i = 0; i < TRIPS; i++) {
            by[i] = omp_get_thread_num();
            if (i % 5 == 0) sched_yield();
        }
        expect_chunks(chunk);
#pragma omp parallel for schedule(dynamic, chunk) num_threads(4)
        for (unsigned long long i = 0; i < TRIPS; i++) {
            by[i] = omp_get_thread_num();
            if (i % 5 == 0) sched_yield();
        }
        expect_chunks(chunk);
        omp_set_schedule(omp_sched_dynamic, chunk);
#pragma omp parallel for schedule(runtime) num_threads(4)
        for (int i = 0; i < TRIPS; i++) {
            by[i] = omp_get_thread_num();
            if (i % 5 == 0) sched_yield();
        }
        expect_chunks(chunk);
    }
}

/* OpenMP 5.2, table 11.4: chunks go round the team in thread order. */
static void static_chunks(void) {
    for (int size = 1; size <= 5; size++)
        for (int chunk = 1; chunk <= 100; chunk += 33) {
            omp_set_schedule(omp_sched_static, chunk);
#pragma omp parallel for schedule(runtime) num_threads(size)
            for (int i = 0; i < TRIPS; i++) by[i] = omp_get_thread_num();
            for (int i = 0; i < TRIPS; i++) CHECK_EQ(by[i], i / chunk % size);
#pragma omp parallel for schedule(runtime) num_threads(size)
            for (unsigned long long i = 0; i < TRIPS; i++) by[i] = omp_get_thread_num();
            for (int i = 0; i < TRIPS; i++) CHECK_EQ(by[i], i / chunk % size);
        }
}

/* Without a chunk size each member gets one block, all of nearly equal size. GCC's runtime gives
 * the first members one iteration more. Programs rely on equal shares for loops with the same
 * bounds. */
static void static_blocks(void) {
    for (int size = 1; size <= 7; size++) {
        omp_set_schedule(omp_sched_static, 0);
        for (int i = 0; i < TRIPS; i++) by[i] = -1;
#pragma omp parallel for schedule(runtime) num_threads(size)
        for (int i = 0; i < TRIPS; i++) by[i] = omp_get_thread_num();
#pragma omp parallel for schedule(static) num_threads(size)
        for (int i = 0; i < TRIPS; i++) CHECK_EQ(by[i], omp_get_thread_num());
#pragma omp parallel for schedule(runtime) num_threads(size)
        for (unsigned long long i = 0; i < TRIPS; i++) CHECK_EQ(by[i], omp_get_thread_num());
    }
}

/* Each member meets its iterations in the loop's order. */
#define IN_ORDER(clause, type, first, condition, step, sign)                                       \
    do {                                                                                           \
        _Pragma("omp parallel num_threads(4)") {                                                   \
            long previous = -1, met = 0;                                                           \
            _Pragma(clause) for (type i = first; condition; step) {                                \
                CHECK(met++ == 0 || (sign) * ((long)i - previous) > 0);                            \
                previous = (long)i;                                                                \
                if (i % 4 == 0) sched_yield();                                                     \
            }                                                                                      \
        }                                                                                          \
    } while (0)
#define RISING(clause, type) IN_ORDER(clause, type, 0, i < TRIPS, i++, 1)
#define FALLING(clause, type) IN_ORDER(clause, type, TRIPS, i > 0, i--, -1)

static void monotonic(void) {
    RISING("omp for schedule(monotonic: dynamic)", int);
    RISING("omp for schedule(monotonic: dynamic, 3)", unsigned long long);
    RISING("omp for schedule(monotonic: guided)", int);
    RISING("omp for schedule(static, 3)", int);
    FALLING("omp for schedule(monotonic: dynamic)", int);
    FALLING("omp for schedule(monotonic: guided)", unsigned long long);
    omp_set_schedule(omp_sched_dynamic | omp_sched_monotonic, 2);
    RISING("omp for schedule(runtime)", int);
    omp_set_schedule(omp_sched_dynamic, 2);
    RISING("omp for schedule(monotonic: runtime)", int);
}

/* Since version 5.0 OpenMP promises no order without the modifier. GCC's runtime keeps the order,
 * and older programs rely on it: superlu_dist's members would wait for each other. */
static void in_order_all_the_same(void) {
    RISING("omp for schedule(dynamic)", int);
    RISING("omp for schedule(dynamic)", unsigned long long);
    RISING("omp for schedule(dynamic, 3)", long);
    RISING("omp for schedule(guided)", int);
    FALLING("omp for schedule(dynamic)", int);
    FALLING("omp for schedule(dynamic, 3)", unsigned long long);
    omp_set_schedule(omp_sched_dynamic, 1);
    RISING("omp for schedule(runtime)", int);
}

enum { CHUNK = 6 };
static int begun[2]; /* the iteration that each member began last, counted from 1 */

/* Neighbouring chunks go to different members: a member in an iteration waits until the other
 * member has begun a later iteration. The last chunk begins within the last CHUNK iterations. */
static void take_turns(int i) {
    int me = omp_get_thread_num();
    by[i] = me;
    __atomic_store_n(&begun[me], i + 1, __ATOMIC_RELEASE);
    while (i < TRIPS - CHUNK && __atomic_load_n(&begun[1 - me], __ATOMIC_ACQUIRE) <= i + 1)
        sched_yield();
}

static void expect_no_small_chunk(void) {
    int run = 1;
    for (int i = 1; i < TRIPS; i++) {
        if (by[i] == by[i - 1]) {
            run++;
        } else {
            CHECK(run >= CHUNK);
            run = 1;
        }
    }
    begun[0] = begun[1] = 0;
}

/* Guided chunks shrink to the given size; only the last chunk may be smaller. */
static void guided_chunks(void) {
#pragma omp parallel for schedule(guided, CHUNK) num_threads(2)
    for (int i = 0; i < TRIPS; i++) take_turns(i);
    expect_no_small_chunk();
#pragma omp parallel for schedule(guided, CHUNK) num_threads(2)
    for (unsigned long long i = 0; i < TRIPS; i++) take_turns((int)i);
    expect_no_small_chunk();
    omp_set_schedule(omp_sched_guided, CHUNK);
#pragma omp parallel for schedule(runtime) num_threads(2)
    for (int i = 0; i < TRIPS; i++) take_turns(i);
    expect_no_small_chunk();
}

int main(void) {
    test_limit(50);
    by_demand();
    guided_shrinks();
    chunks_stay_whole();
    static_chunks();
    static_blocks();
    monotonic();
    in_order_all_the_same();
    guided_chunks();
    return 0;
}
