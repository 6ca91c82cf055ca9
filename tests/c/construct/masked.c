/* master and masked: only the named member executes the block, and there is no barrier. */
#include "testing.h"
#include <omp.h>

int main(void) {
    test_limit(30);
    for (int size = 1; size <= 4; size++) {
        int by_master = 0, by_filter[4] = {0};
#pragma omp parallel num_threads(size)
        {
#pragma omp master
            {
                CHECK_EQ(omp_get_thread_num(), 0);
                INCREMENT(&by_master);
            }
#pragma omp masked
            INCREMENT(&by_master);
            for (int chosen = 0; chosen < size; chosen++) {
#pragma omp masked filter(chosen)
                {
                    CHECK_EQ(omp_get_thread_num(), chosen);
                    INCREMENT(&by_filter[chosen]);
                }
            }
        }
        CHECK_EQ(by_master, 2);
        for (int chosen = 0; chosen < size; chosen++) CHECK_EQ(by_filter[chosen], 1);
    }

    /* The others pass the construct while the master is still in it. */
    int passed = 0;
#pragma omp parallel num_threads(3)
    {
#pragma omp master
        AWAIT(&passed, 2);
        INCREMENT(&passed);
    }
    CHECK_EQ(passed, 3);
    return 0;
}
