/* omp_pause_resource ends the idle workers, and the next region has its team all the same.
 */
#include "process.h"
#include <omp.h>

int omp_pause_resource_all_(const int *); /* Fortran's name */

static void region(int size) {
    int count = 0;
#pragma omp parallel num_threads(size)
    INCREMENT(&count);
    CHECK_EQ(count, size);
}

int main(void) {
    test_limit(40);
    region(2);
    long before = settled_thread_count();
    for (int round = 0; round < 10; round++) {
        region(6);
        long busy = thread_count();
        CHECK(busy >= before);
        const int kind = omp_pause_hard;
        if (round % 3 == 0)
            CHECK_EQ(omp_pause_resource_all(kind), 0);
        else if (round % 3 == 1)
            CHECK_EQ(omp_pause_resource_all_(&kind), 0);
        else
            CHECK_EQ(omp_pause_resource(omp_pause_hard, omp_get_initial_device()), 0);
        long after = settled_thread_count();
        if (after > busy - 4) fprintf(stderr, "%ld threads, after the pause %ld\n", busy, after);
        CHECK(after <= busy - 4);
    }
    CHECK_EQ(omp_pause_resource(omp_pause_soft, omp_get_initial_device() + 5), -1);
    /* Inside a region the call is refused, and the team is unchanged. */
#pragma omp parallel num_threads(3)
    {
#pragma omp master
        CHECK_EQ(omp_pause_resource_all(omp_pause_hard), -1);
#pragma omp barrier
    }
    region(3);
    return 0;
}
