/* Ordered regions run one at a time, in the order of the iterations, under every schedule, also if
 * some iterations have none. The other parts of the iterations overlap.
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 * test: env CAPSTAN_WAIT=patience:off
 */
#include "testing.h"
#include <limits.h>
#include <omp.h>

enum { TRIPS = 60 };

static long journal[TRIPS];
static int written, inside;

static void note(long i) {
    CHECK_EQ(INCREMENT(&inside), 1);
    journal[written] = i;
    sched_yield();
    written++;
    CHECK_EQ(DECREMENT(&inside), 0);
}

static void expect(int count, long first, long step) {
    CHECK_EQ(written, count);
    for (int k = 0; k < count; k++) CHECK_EQ(journal[k], first + k * step);
    written = 0;
}

/* Iterations have uneven lengths, so that the order does not arise by itself. */
static void disturb(long i) {
    if (i % 7 == 0)
        pause_ms(1);
    else if (i % 3 == 0)
        sched_yield();
}

#define ORDERED_LOOP(size, clause)                                                                 \
    do {                                                                                           \
        _Pragma("omp parallel num_threads(size)") {                                                \
            clause for (int i = 0; i < TRIPS; i++) {                                               \
                disturb(i);                                                                        \
                _Pragma("omp ordered") note(i);                                                    \
            }                                                                                      \
        }                                                                                          \
        expect(TRIPS, 0, 1);                                                                       \
    } while (0)

static void every_schedule(int size) {
    ORDERED_LOOP(size, _Pragma("omp for ordered schedule(static)"));
    ORDERED_LOOP(size, _Pragma("omp for ordered schedule(static, 1)"));
    ORDERED_LOOP(size, _Pragma("omp for ordered schedule(static, 7)"));
    ORDERED_LOOP(size, _Pragma("omp for ordered schedule(dynamic)"));
    ORDERED_LOOP(size, _Pragma("omp for ordered schedule(dynamic, 4)"));
    ORDERED_LOOP(size, _Pragma("omp for ordered schedule(guided)"));
    ORDERED_LOOP(size, _Pragma("omp for ordered schedule(guided, 3)"));
    ORDERED_LOOP(size, _Pragma("omp for ordered schedule(auto)"));
    const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided,
                                 omp_sched_auto};
    for (int kind = 0; kind < 4; kind++)
        for (int chunk = 0; chunk <= 5; chunk += 5) {
            omp_set_schedule(kinds[kind], chunk);
            ORDERED_LOOP(size, _Pragma("omp for ordered schedule(runtime)"));
        }
}

static void sometimes(int size) {
    for (int round = 0; round < 3; round++) {
#pragma omp parallel for ordered schedule(dynamic, 2) num_threads(size)
        for (int i = 0; i < TRIPS; i++) {
            disturb(i);
            if (i % 3 == 1) {
#pragma omp ordered
                note(i);
            }
        }
        expect(TRIPS / 3, 1, 3);
#pragma omp parallel for ordered schedule(static, 1) num_threads(size)
        for (int i = 0; i < TRIPS; i++) {
            disturb(i);
            if (i % 3 == 1) {
#pragma omp ordered
                note(i);
            }
        }
        expect(TRIPS / 3, 1, 3);
    }
}

static void other_types(int size) {
#pragma omp parallel for ordered schedule(guided) num_threads(size)
    for (long i = 1000; i > 1000 - 3 * TRIPS; i -= 3) {
        disturb(i);
#pragma omp ordered
        note(i);
    }
    expect(TRIPS, 1000, -3);
#pragma omp parallel for ordered schedule(dynamic) num_threads(size)
    for (unsigned long long i = ULLONG_MAX - TRIPS; i < ULLONG_MAX; i++) {
        disturb((long)(i & 31));
#pragma omp ordered
        note((long)(i - (ULLONG_MAX - TRIPS)));
    }
    expect(TRIPS, 0, 1);
#pragma omp parallel for ordered schedule(static, 3) num_threads(size)
    for (unsigned long long i = ULLONG_MAX; i > ULLONG_MAX - TRIPS; i--) {
        disturb((long)(i & 31));
#pragma omp ordered
        note((long)(ULLONG_MAX - i));
    }
    expect(TRIPS, 0, 1);
#pragma omp parallel for ordered schedule(guided, 2) num_threads(size)
    for (unsigned long long i = 0; i < TRIPS; i++) {
        disturb((long)i);
#pragma omp ordered
        note((long)i);
    }
    expect(TRIPS, 0, 1);
    omp_set_schedule(omp_sched_dynamic, 2);
#pragma omp parallel for ordered schedule(runtime) num_threads(size)
    for (unsigned long long i = 0; i < TRIPS; i++) {
#pragma omp ordered
        note((long)i);
    }
    expect(TRIPS, 0, 1);
}

/* Iteration 1 does its own part while iteration 0 is inside its ordered region. */
static void overlap(void) {
    int prepared = 0;
#pragma omp parallel for ordered schedule(static, 1) num_threads(2)
    for (int i = 0; i < 2; i++) {
        if (i == 1) SET(&prepared, 1);
#pragma omp ordered
        {
            if (i == 0) AWAIT(&prepared, 1);
            note(i);
        }
    }
    expect(2, 0, 1);
}

/* Several loops without a barrier between them: each has its own order. */
static void several_nowait(int size) {
    enum { LOOPS = 30, EACH = 2 };
    static int next[LOOPS];
    for (int loop = 0; loop < LOOPS; loop++) next[loop] = 0;
#pragma omp parallel num_threads(size)
    for (int loop = 0; loop < LOOPS; loop++) {
#pragma omp for ordered schedule(dynamic, 1) nowait
        for (int i = 0; i < EACH; i++) {
#pragma omp ordered
            {
                CHECK_EQ(next[loop], i);
                next[loop]++;
            }
        }
    }
    for (int loop = 0; loop < LOOPS; loop++) CHECK_EQ(next[loop], EACH);
}

int main(void) {
    test_limit(50);
    const int sizes[] = {1, 2, 4};
    for (unsigned which = 0; which < sizeof sizes / sizeof *sizes; which++) {
        every_schedule(sizes[which]);
        sometimes(sizes[which]);
        other_types(sizes[which]);
        several_nowait(sizes[which]);
    }
    overlap();
    return 0;
}
