/* OMP_THREAD_LIMIT bounds all threads of a contention group together. A region gives its threads
 * back at its end, and a full group still gets teams of one.
 * test: env OMP_THREAD_LIMIT=6
 */
#include "testing.h"
#include <omp.h>

static int region(int asked) {
    int size = 0, count = 0;
#pragma omp parallel num_threads(asked)
    {
        INCREMENT(&count);
        if (omp_get_thread_num() == 0) size = omp_get_num_threads();
    }
    CHECK_EQ(count, size);
    return size;
}

/* Three outer members, and at most three more threads for all inner teams together. */
static void nested(void) {
    int threads = 0, most = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
    {
        CHECK_EQ(omp_get_num_threads(), 3);
#pragma omp parallel num_threads(4)
        {
            int now = INCREMENT(&threads);
            if (now > GET(&most)) SET(&most, now);
            pause_ms(2);
            DECREMENT(&threads);
        }
    }
    CHECK(most >= 1 && most <= 6);
    omp_set_max_active_levels(1);
}

int main(void) {
    test_limit(30);
    CHECK_EQ(omp_get_thread_limit(), 6);
    for (int round = 0; round < 50; round++) {
        CHECK_EQ(region(4), 4);
        CHECK_EQ(region(6), 6);
        CHECK_EQ(region(100), 6);
        if (round % 10 == 0) nested();
    }
    return 0;
}
