/* The bodies of tasks are regions with tasks of their own, and one thread runs them one after the
 * other. The runtime must count each task in its own team, or the end of a region is never seen. */
#include "testing.h"

#include <omp.h>

enum { ROUNDS = 50, OUTER = 20, INNER = 4 };

static int counted, order;

static void inner_region(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < INNER; i++) {
#pragma omp task depend(in : order)
        INCREMENT(&counted);
    }
}

static void outer_region(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < OUTER; i++) {
#pragma omp task depend(inout : order)
        inner_region();
    }
}

int main(void) {
    test_limit(30);
    for (int levels = 1; levels <= 2; levels++) {
        omp_set_max_active_levels(levels);
        counted = 0;
        for (int round = 0; round < ROUNDS; round++) outer_region();
        CHECK_EQ(counted, ROUNDS * OUTER * INNER);
    }
    return 0;
}
