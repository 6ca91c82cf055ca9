/* The affinity mask at the start of the process limits the default number of threads, and the
 * workers inherit it. Regions leave the caller's mask unchanged.
 */
#define _GNU_SOURCE
#include "process.h"
#include <omp.h>

static void one_processor(void) {
    cpu_set_t mask;
    int first = 0;
    sched_getaffinity(0, sizeof mask, &mask);
    while (!CPU_ISSET(first, &mask)) first++;
    CPU_ZERO(&mask);
    CPU_SET(first, &mask);
    sched_setaffinity(0, sizeof mask, &mask);
}

static void same_mask(void) {
    cpu_set_t mine;
    sched_getaffinity(0, sizeof mine, &mine);
    for (int round = 0; round < 5; round++) {
#pragma omp parallel num_threads(4)
        {
            cpu_set_t here;
            sched_getaffinity(0, sizeof here, &here);
            CHECK(CPU_EQUAL(&here, &mine));
        }
    }
}

int main(int count, char **arguments) {
    test_limit(30);
    if (count > 1 && !strcmp(arguments[1], "one")) {
        CHECK_EQ(omp_get_num_procs(), 1);
        CHECK_EQ(omp_get_max_threads(), 1);
#pragma omp parallel
        CHECK_EQ(omp_get_num_threads(), 1);
#pragma omp parallel num_threads(3)
        CHECK_EQ(omp_get_num_threads(), 3);
        same_mask();
        return 0;
    }
    same_mask();
    EXPECT_EXIT(run_child("one", &(struct child_options){.prepare = one_processor}), 0);
    return 0;
}
