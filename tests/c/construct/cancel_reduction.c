/* A loop with a reduction is cancelled while some members are in it, others in the barrier of its
 * reduction, and others past it. The members meet in the barriers behind it all the same.
 * test: env OMP_CANCELLATION=true
 * test: env OMP_CANCELLATION=false
 * test: env OMP_CANCELLATION=true OMP_WAIT_POLICY=passive
 * test: not clang-stock libomp confuses the barrier of the reduction with that of the loop
 */
#include "testing.h"
#include <omp.h>

enum { ROUNDS = 200, INDICES = 50 };

/* All members have arrived before any goes on. A member that is one barrier ahead shows here. */
static void meet(int *arrived, int size) {
    INCREMENT(arrived);
#pragma omp barrier
    CHECK_EQ(GET(arrived), size);
#pragma omp barrier
}

/* The loop behind is not cancelled, so its sum is exact. */
static void sum_behind(int *total) {
#pragma omp for reduction(+ : total[:1]) schedule(dynamic, 1)
    for (int i = 0; i < INDICES; i++) total[0] += i;
}

#define SEARCH(name, schedule_kind, cancelled_index)                                               \
    static void name(int size) {                                                                   \
        for (int round = 0; round < ROUNDS; round++) {                                             \
            int found = 0, arrived = 0, total = 0, more = 0;                                       \
            _Pragma("omp parallel num_threads(size)") {                                            \
                _Pragma(schedule_kind) for (int i = 0; i < INDICES; i++) {                         \
                    found++;                                                                       \
                    more += i;                                                                     \
                    if (i == (cancelled_index)) {                                                  \
                        _Pragma("omp cancel for")                                                  \
                    }                                                                              \
                    _Pragma("omp cancellation point for")                                          \
                }                                                                                  \
                meet(&arrived, omp_get_num_threads());                                             \
                sum_behind(&total);                                                                \
            }                                                                                      \
            CHECK_EQ(total, INDICES *(INDICES - 1) / 2);                                           \
            if (!omp_get_cancellation()) CHECK_EQ(found, INDICES);                                 \
            if (!omp_get_cancellation()) CHECK_EQ(more, INDICES *(INDICES - 1) / 2);               \
        }                                                                                          \
    }

SEARCH(dynamic, "omp for reduction(+ : found, more) schedule(dynamic, 1)", 20)
SEARCH(dynamic_late, "omp for reduction(+ : found, more) schedule(dynamic, 1)", INDICES - 1)
SEARCH(monotonic, "omp for reduction(+ : found, more) schedule(monotonic : dynamic, 1)",
       INDICES - 2)
SEARCH(guided, "omp for reduction(+ : found, more) schedule(guided)", 30)
SEARCH(fixed, "omp for reduction(+ : found, more) schedule(static)", INDICES - 1)
SEARCH(fixed_chunks, "omp for reduction(+ : found, more) schedule(static, 2)", 7)

/* The reduction may use a lock, as an array does; `for` ends the region at once. */
static void combined(int size) {
    for (int round = 0; round < ROUNDS; round++) {
        int sums[4] = {0};
#pragma omp parallel for num_threads(size) reduction(+ : sums) schedule(dynamic, 1)
        for (int i = 0; i < INDICES; i++) {
            sums[i % 4]++;
            if (i == INDICES - 3) {
#pragma omp cancel for
            }
        }
        if (!omp_get_cancellation()) CHECK_EQ(sums[0] + sums[1] + sums[2] + sums[3], INDICES);
    }
}

static void sections(int size) {
    for (int round = 0; round < ROUNDS; round++) {
        int arrived = 0, total = 0, done = 0;
#pragma omp parallel num_threads(size)
        {
#pragma omp sections reduction(+ : done)
            {
#pragma omp section
                done++;
#pragma omp section
                {
                    done++;
#pragma omp cancel sections
                }
#pragma omp section
                done++;
            }
            meet(&arrived, omp_get_num_threads());
            sum_behind(&total);
        }
        CHECK_EQ(total, INDICES * (INDICES - 1) / 2);
        if (!omp_get_cancellation()) CHECK_EQ(done, 3);
    }
}

/* The region can be cancelled too, so its barriers are cancellable. */
static void in_cancellable_region(int size) {
    for (int round = 0; round < ROUNDS; round++) {
        int found = 0, arrived = 0;
        volatile int no = 0;
#pragma omp parallel num_threads(size)
        {
#pragma omp for reduction(+ : found) schedule(dynamic, 1)
            for (int i = 0; i < INDICES; i++) {
                found++;
                if (i == 20) {
#pragma omp cancel for
                }
            }
            INCREMENT(&arrived);
#pragma omp barrier
            CHECK_EQ(GET(&arrived), omp_get_num_threads());
#pragma omp cancel parallel if (no)
        }
        if (!omp_get_cancellation()) CHECK_EQ(found, INDICES);
    }
}

int main(void) {
    for (int size = 1; size <= 9; size += size < 4 ? 1 : 5) {
        dynamic(size);
        dynamic_late(size);
        monotonic(size);
        guided(size);
        fixed(size);
        fixed_chunks(size);
        combined(size);
        sections(size);
        in_cancellable_region(size);
    }
    return 0;
}
