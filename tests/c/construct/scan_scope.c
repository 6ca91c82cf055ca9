/* scope, loop, order(concurrent) and inscan reductions.
 *
 * test: not clang clang 14 does not know scope
 */
#include "testing.h"
#include <omp.h>

enum { TRIPS = 300 };

static void scan(int size) {
    int from[TRIPS], inclusive[TRIPS], exclusive[TRIPS], sum = 0, other = 0;
    for (int i = 0; i < TRIPS; i++) from[i] = i % 7;
#pragma omp parallel for num_threads(size) reduction(inscan, + : sum)
    for (int i = 0; i < TRIPS; i++) {
        sum += from[i];
#pragma omp scan inclusive(sum)
        inclusive[i] = sum;
    }
#pragma omp parallel for num_threads(size) reduction(inscan, + : other)
    for (int i = 0; i < TRIPS; i++) {
        exclusive[i] = other;
#pragma omp scan exclusive(other)
        other += from[i];
    }
    int expected = 0;
    for (int i = 0; i < TRIPS; i++) {
        CHECK_EQ(exclusive[i], expected);
        expected += from[i];
        CHECK_EQ(inclusive[i], expected);
    }
    CHECK_EQ(sum, expected);
    CHECK_EQ(other, expected);
}

static void scope(int size) {
    int executed = 0, sum = 0;
#pragma omp parallel num_threads(size)
    {
#pragma omp scope reduction(+ : sum)
        {
            if (omp_get_thread_num() == size - 1) pause_ms(2);
            INCREMENT(&executed);
            sum += 1;
        }
        CHECK(GET(&executed) >= size); /* a scope ends with a barrier */
        CHECK_EQ(sum, size);
#pragma omp scope nowait
        INCREMENT(&executed);
    }
    CHECK_EQ(executed, 2 * size);
}

static void loop(int size) {
    int times[TRIPS] = {0};
#pragma omp parallel num_threads(size)
    {
#pragma omp loop bind(parallel)
        for (int i = 0; i < TRIPS; i++) INCREMENT(&times[i]);
#pragma omp for order(concurrent) schedule(dynamic, 4)
        for (int i = 0; i < TRIPS; i++) INCREMENT(&times[i]);
    }
    for (int i = 0; i < TRIPS; i++) CHECK_EQ(times[i], 2);
}

int main(void) {
    test_limit(30);
    for (int size = 1; size <= 4; size++) {
        for (int round = 0; round < 10; round++) scan(size);
        scope(size);
        loop(size);
    }
    return 0;
}
