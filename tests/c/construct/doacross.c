/* Cross-iteration dependences: an iteration goes on only when the iterations of its sink clauses
 * have reported. This holds under every schedule, in one and two dimensions, also for unsigned long
 * long.
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 * test: env CAPSTAN_WAIT=patience:off
 */
#include "testing.h"
#include <omp.h>

enum { ROWS = 12, COLUMNS = 9, TRIPS = 50 };

/* The first iteration is not 0, because GCC 12 takes a sink that wraps below 0 for an iteration.
 * The compiler does not know it, so that unsigned long long needs its own entry points. */
static volatile int first_iteration = 100;

static int done[TRIPS], table[ROWS][COLUMNS];

#define PRAGMA(text) _Pragma(#text)

#define CHAIN(type, clause, distance)                                                              \
    do {                                                                                           \
        for (int k = 0; k < TRIPS; k++) done[k] = 0;                                               \
        type base = (type)first_iteration;                                                         \
        _Pragma(clause) for (type i = base; i < base + TRIPS; i++) {                               \
            if (i % 5 == 0) sched_yield();                                                         \
            if (i % 11 == 3) pause_ms(1);                                                          \
            PRAGMA(omp ordered depend(sink : i - distance));                                       \
            if (i >= base + distance) CHECK_EQ(done[i - base - distance], 1);                      \
            if (i % 7 == 0) pause_ms(1);                                                           \
            done[i - base] = 1; /* plain: the dependence orders it */                              \
            _Pragma("omp ordered depend(source)");                                                 \
        }                                                                                          \
        for (int k = 0; k < TRIPS; k++) CHECK_EQ(done[k], 1);                                      \
    } while (0)

static void chains(int size) {
    CHAIN(int, "omp parallel for ordered(1) schedule(static, 1) num_threads(size)", 1);
    CHAIN(int, "omp parallel for ordered(1) schedule(static) num_threads(size)", 1);
    CHAIN(int, "omp parallel for ordered(1) schedule(static, 3) num_threads(size)", 2);
    CHAIN(int, "omp parallel for ordered(1) schedule(dynamic) num_threads(size)", 1);
    CHAIN(long, "omp parallel for ordered(1) schedule(dynamic, 4) num_threads(size)", 3);
    CHAIN(int, "omp parallel for ordered(1) schedule(guided) num_threads(size)", 1);
    CHAIN(unsigned long long, "omp parallel for ordered(1) schedule(static, 1) num_threads(size)",
          1);
    CHAIN(unsigned long long, "omp parallel for ordered(1) schedule(dynamic, 2) num_threads(size)",
          3);
    CHAIN(unsigned long long, "omp parallel for ordered(1) schedule(guided) num_threads(size)", 1);
    omp_set_schedule(omp_sched_dynamic, 1);
    CHAIN(int, "omp parallel for ordered(1) schedule(runtime) num_threads(size)", 2);
    omp_set_schedule(omp_sched_static, 1);
    CHAIN(unsigned long long, "omp parallel for ordered(1) schedule(runtime) num_threads(size)", 2);
}

/* A wave front: each cell needs the one above and the one to the left. */
#define WAVE(clause)                                                                               \
    do {                                                                                           \
        _Pragma(clause) for (int i = 0; i < ROWS; i++) for (int j = 0; j < COLUMNS; j++) {         \
            if ((i + j) % 6 == 0) sched_yield();                                                   \
            _Pragma("omp ordered depend(sink: i - 1, j) depend(sink: i, j - 1)");                  \
            if (i % 5 == 2 && j == 3) pause_ms(1);                                                 \
            table[i][j] = (i && j) ? table[i - 1][j] + table[i][j - 1] : 1;                        \
            _Pragma("omp ordered depend(source)");                                                 \
        }                                                                                          \
        for (int i = 0; i < ROWS; i++)                                                             \
            for (int j = 0; j < COLUMNS; j++) {                                                    \
                CHECK_EQ(table[i][j], (i && j) ? table[i - 1][j] + table[i][j - 1] : 1);           \
                if (i && j) CHECK(table[i][j] > 1);                                                \
            }                                                                                      \
        for (int i = 0; i < ROWS; i++)                                                             \
            for (int j = 0; j < COLUMNS; j++) table[i][j] = -1000;                                 \
    } while (0)

static void waves(int size) {
    for (int round = 0; round < 2; round++) {
        WAVE("omp parallel for ordered(2) schedule(static, 1) num_threads(size)");
        WAVE("omp parallel for ordered(2) schedule(dynamic) num_threads(size)");
        WAVE("omp parallel for ordered(2) schedule(guided) num_threads(size)");
        WAVE("omp parallel for ordered(2) collapse(2) schedule(static, 1) num_threads(size)");
        WAVE("omp parallel for ordered(2) collapse(2) schedule(dynamic, 2) num_threads(size)");
    }
}

/* Iterations without a dependence between them overlap. */
static void overlap(void) {
    int here = 0;
#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(2)
    for (int i = 0; i < 4; i++) {
#pragma omp ordered depend(sink : i - 2)
        if (i < 2) {
            INCREMENT(&here);
            AWAIT(&here, 2);
        }
#pragma omp ordered depend(source)
    }
    CHECK_EQ(here, 2);
}

/* One member is far ahead, in loops of the same kind, with nowait. */
static void nowait(int size) {
    enum { LOOPS = 40 };
    static int next[LOOPS];
    for (int loop = 0; loop < LOOPS; loop++) next[loop] = 0;
#pragma omp parallel num_threads(size)
    for (int loop = 0; loop < LOOPS; loop++) {
#pragma omp for ordered(1) schedule(dynamic, 1) nowait
        for (int i = 0; i < 5; i++) {
#pragma omp ordered depend(sink : i - 1)
            CHECK_EQ(next[loop], i);
            next[loop]++;
#pragma omp ordered depend(source)
        }
    }
}

int main(void) {
    test_limit(50);
    const int sizes[] = {1, 2, 3};
    for (unsigned which = 0; which < sizeof sizes / sizeof *sizes; which++) {
        chains(sizes[which]);
        waves(sizes[which]);
        nowait(sizes[which]);
    }
    overlap();
    return 0;
}
