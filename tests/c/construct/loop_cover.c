/* Every iteration is executed exactly once, with all schedules, chunks, types and steps. Ranges end
 * at the limits of the type, have no or few iterations, or are smaller than a chunk. */
#include "testing.h"
#include <limits.h>
#include <omp.h>

enum { MOST = 4096 };

static int times[MOST];

static void clear(void) {
    for (int i = 0; i < MOST; i++) times[i] = 0;
}

static void expect(unsigned long long trips, int line) {
    for (unsigned long long k = 0; k < MOST; k++)
        if (times[k] != (k < trips)) {
            fprintf(stderr, "loop of line %d: iteration %llu of %llu executed %d times\n", line, k,
                    trips, times[k]);
            CHECK(times[k] == (k < trips));
        }
}

static void mark(unsigned long long k) {
    CHECK(k < MOST);
    INCREMENT(&times[k]);
}

#define PRAGMA(text) _Pragma(#text)

/* One loop under one clause, as a construct and combined with parallel. `k` numbers the
 * iterations from 0. */
#define ONE(type, from, compare, to, step, trips, clause)                                          \
    do {                                                                                           \
        type first_ = (from);                                                                      \
        clear();                                                                                   \
        PRAGMA(omp parallel num_threads(size)) {                                                   \
            PRAGMA(omp for clause) for (type i = (from); i compare(to); i += (step))               \
                mark((unsigned long long)((i - first_) / (step)));                                 \
        }                                                                                          \
        expect(trips, __LINE__);                                                                   \
        clear();                                                                                   \
        PRAGMA(omp parallel for num_threads(size) clause)                                          \
        for (type i = (from); i compare(to); i += (step))                                          \
            mark((unsigned long long)((i - first_) / (step)));                                     \
        expect(trips, __LINE__);                                                                   \
    } while (0)

/* A loop downwards: for unsigned types the difference is taken the other way round. */
#define DOWN(type, from, compare, to, step, trips, clause)                                         \
    do {                                                                                           \
        type first_ = (from);                                                                      \
        clear();                                                                                   \
        PRAGMA(omp parallel num_threads(size)) {                                                   \
            PRAGMA(omp for clause) for (type i = (from); i compare(to); i -= (step))               \
                mark((unsigned long long)((first_ - i) / (step)));                                 \
        }                                                                                          \
        expect(trips, __LINE__);                                                                   \
        clear();                                                                                   \
        PRAGMA(omp parallel for num_threads(size) clause)                                          \
        for (type i = (from); i compare(to); i -= (step))                                          \
            mark((unsigned long long)((first_ - i) / (step)));                                     \
        expect(trips, __LINE__);                                                                   \
    } while (0)

/* The schedules that the library computes; for the others the compiler emits the arithmetic. */
#define BY_LIBRARY(DIRECTION, type, from, compare, to, step, trips)                                \
    do {                                                                                           \
        DIRECTION(type, from, compare, to, step, trips, schedule(dynamic));                        \
        DIRECTION(type, from, compare, to, step, trips, schedule(dynamic, chunk));                 \
        DIRECTION(type, from, compare, to, step, trips, schedule(monotonic : dynamic, chunk));     \
        DIRECTION(type, from, compare, to, step, trips, schedule(nonmonotonic : dynamic, chunk));  \
        DIRECTION(type, from, compare, to, step, trips, schedule(guided));                         \
        DIRECTION(type, from, compare, to, step, trips, schedule(guided, chunk));                  \
        DIRECTION(type, from, compare, to, step, trips, schedule(monotonic : guided, chunk));      \
        for (int kind = omp_sched_static; kind <= (int)omp_sched_auto; kind++) {                   \
            omp_set_schedule((omp_sched_t)kind, chunk > INT_MAX ? INT_MAX : (int)chunk);           \
            DIRECTION(type, from, compare, to, step, trips, schedule(runtime));                    \
            DIRECTION(type, from, compare, to, step, trips, schedule(monotonic : runtime));        \
            omp_set_schedule((omp_sched_t)kind | omp_sched_monotonic, 0);                          \
            DIRECTION(type, from, compare, to, step, trips, schedule(runtime));                    \
        }                                                                                          \
    } while (0)

#define EVERY(DIRECTION, type, from, compare, to, step, trips)                                     \
    do {                                                                                           \
        BY_LIBRARY(DIRECTION, type, from, compare, to, step, trips);                               \
        DIRECTION(type, from, compare, to, step, trips, schedule(static));                         \
        DIRECTION(type, from, compare, to, step, trips, schedule(static, chunk));                  \
        DIRECTION(type, from, compare, to, step, trips, schedule(auto));                           \
    } while (0)

static void ordinary(int size, long chunk) {
    EVERY(ONE, int, 0, <, 100, 1, 100);
    EVERY(ONE, int, -50, <=, 50, 7, 15);
    EVERY(DOWN, int, 50, >, -50, 3, 34);
    EVERY(ONE, unsigned, 5, <, 1000, 10, 100);
    EVERY(ONE, long, -1000000000000, <, -999999999000, 1, 1000);
    EVERY(ONE, unsigned long long, 3, <, 103, 1, 100);
    EVERY(DOWN, unsigned long long, 103, >, 3, 3, 34);
    EVERY(ONE, short, -100, <, 100, 3, 67);
    EVERY(ONE, unsigned char, 0, <, 200, 5, 40);
}

static void few(int size, long chunk) {
    EVERY(ONE, int, 0, <, 1, 1, 1);
    EVERY(ONE, int, 0, <, 2, 1, 2);
    EVERY(ONE, long, 7, <, 12, 4, 2);
    EVERY(ONE, unsigned long long, 0, <, 1, 1, 1);
    EVERY(DOWN, unsigned long long, 2, >, 0, 1, 2);
    /* No iteration at all; the compiler does not know the bounds. */
    volatile int low = 10, high = 10;
    volatile unsigned long long ulow = ULLONG_MAX, uhigh = 5;
    EVERY(ONE, int, low, <, high, 1, 0);
    EVERY(ONE, int, low, <, high - 5, 3, 0);
    EVERY(DOWN, int, low, >, high + 5, 3, 0);
    EVERY(ONE, unsigned long long, ulow, <, uhigh, 3, 0);
    EVERY(DOWN, unsigned long long, uhigh, >, ulow, 3, 0);
}

static void at_the_limits(int size, long chunk) {
    EVERY(ONE, int, INT_MAX - 100, <, INT_MAX, 1, 100);
    EVERY(ONE, int, INT_MAX - 100, <, INT_MAX - 3, 7, 14);
    EVERY(DOWN, int, INT_MIN + 100, >, INT_MIN, 1, 100);
    EVERY(ONE, long, LONG_MAX - 100, <, LONG_MAX, 1, 100);
    EVERY(ONE, long, LONG_MAX - 100, <, LONG_MAX - 7, 8, 12);
    EVERY(DOWN, long, LONG_MIN + 100, >, LONG_MIN, 1, 100);
    EVERY(DOWN, long, LONG_MIN + 100, >, LONG_MIN + 7, 8, 12);
    EVERY(ONE, unsigned long long, ULLONG_MAX - 100, <, ULLONG_MAX, 1, 100);
    EVERY(ONE, unsigned long long, ULLONG_MAX - 100, <, ULLONG_MAX - 7, 8, 12);
    EVERY(DOWN, unsigned long long, ULLONG_MAX, >, ULLONG_MAX - 100, 1, 100);
    EVERY(DOWN, unsigned long long, 100, >, 0, 1, 100);
    /* Across the middle of the range, where a runtime with signed numbers would become negative. */
    EVERY(ONE, unsigned long long, (ULLONG_MAX / 2) - 50, <, (ULLONG_MAX / 2) + 50, 1, 100);
    EVERY(DOWN, unsigned long long, (ULLONG_MAX / 2) + 50, >, (ULLONG_MAX / 2) - 50, 7, 15);
}

/* Steps so large that only a few fit the type. With a larger chunk even the product would overflow,
 * and GCC's own inline code for static fails then. */
static void large_steps(int size) {
    long chunk = 1;
    EVERY(ONE, long, 0, <, LONG_MAX - LONG_MAX / 8, LONG_MAX / 8, 8);
    EVERY(DOWN, long, 0, >, LONG_MIN + LONG_MAX / 8, LONG_MAX / 8, 8);
    EVERY(DOWN, unsigned long long, ULLONG_MAX, >, ULLONG_MAX / 8, ULLONG_MAX / 8, 8);
    EVERY(ONE, unsigned long long, 0, <, ULLONG_MAX - ULLONG_MAX / 8, ULLONG_MAX / 8, 8);
    EVERY(ONE, unsigned long long, 1, <, ULLONG_MAX - (1ULL << 62), 1ULL << 60, 12);
}

/* A chunk whose product with the number of members does not fit the type. */
static void huge_chunks(int size, long chunk) {
    BY_LIBRARY(ONE, int, INT_MAX - 100, <, INT_MAX, 1, 100);
    BY_LIBRARY(DOWN, int, INT_MIN + 100, >, INT_MIN + 3, 3, 33);
    BY_LIBRARY(ONE, long, 0, <, 100, 1, 100);
    BY_LIBRARY(ONE, long, LONG_MAX - 100, <, LONG_MAX, 1, 100);
    BY_LIBRARY(DOWN, long, LONG_MIN + 100, >, LONG_MIN + 3, 3, 33);
    BY_LIBRARY(ONE, unsigned long long, ULLONG_MAX - 100, <, ULLONG_MAX, 1, 100);
    BY_LIBRARY(DOWN, unsigned long long, 100, >, 3, 3, 33);
}

static void collapsed(int size) {
    clear();
#pragma omp parallel for collapse(3) schedule(dynamic, 3) num_threads(size)
    for (int i = 0; i < 5; i++)
        for (unsigned long long j = 10; j > 3; j--)
            for (long k = -4; k < 4; k += 2) mark(i * 28ULL + (10 - j) * 4 + (k + 4) / 2);
    expect(5 * 7 * 4, __LINE__);
    clear();
#pragma omp parallel for collapse(2) num_threads(size)
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < i; j++) mark(i * (i - 1) / 2 + j);
    expect(20 * 19 / 2, __LINE__);
}

static void last_value(int size) {
    long last = -1;
#pragma omp parallel for schedule(dynamic, 3) lastprivate(last) num_threads(size)
    for (int i = 0; i < 1000; i++) last = i * 2L;
    CHECK_EQ(last, 1998);
#pragma omp parallel for schedule(guided) lastprivate(last) num_threads(size)
    for (unsigned long long i = 0; i < 1000; i++) last = (long)i * 3;
    CHECK_EQ(last, 2997);
    omp_set_schedule(omp_sched_static, 2);
#pragma omp parallel for schedule(runtime) lastprivate(last) num_threads(size)
    for (int i = 0; i < 1001; i++) last = i;
    CHECK_EQ(last, 1000);
}

/* Outside a region the calling thread executes the whole loop, in order. */
static void orphaned(void) {
    int next = 0;
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < 100; i++) CHECK_EQ(i, next++);
#pragma omp for schedule(guided)
    for (unsigned long long i = 0; i < 100; i++) CHECK_EQ((int)i + 100, next++);
#pragma omp for schedule(runtime) ordered
    for (int i = 0; i < 100; i++) {
#pragma omp ordered
        CHECK_EQ(i + 200, next++);
    }
    CHECK_EQ(next, 300);
}

int main(void) {
    test_limit(55);
    const int sizes[] = {1, 2, 3, 7};
    for (unsigned which = 0; which < sizeof sizes / sizeof *sizes; which++) {
        int size = sizes[which];
        ordinary(size, 1);
        ordinary(size, 13);
        few(size, 1);
        few(size, 1000);
        at_the_limits(size, 1);
        large_steps(size);
        huge_chunks(size, 1L << 30);
        huge_chunks(size, LONG_MAX / 4);
        collapsed(size);
        last_value(size);
    }
    orphaned();
    return 0;
}
