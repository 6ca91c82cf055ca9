/* A long life of a process in a short time. A million threads open a region each. A library of the
 * program is opened, runs a region and is closed ten thousand times. The number of threads and the
 * memory do not grow.
 *
 * test: alone
 * test: long
 * test: timeout 1800
 * test: flags -ldl
 * test: shared parts/openmp_part.c -fopenmp
 */
#include "lives.h"
#include "part.h"

static void openings(size_t count) {
    for (size_t i = 0; i < count; i++) {
        void *handle;
        CHECK_EQ(open_part(&handle)(3, 1000), 499500);
        CHECK(dlclose(handle) == 0);
    }
}

int main(void) {
    test_limit(1700);
    expect_flat(openings, 10000);
    expect_flat(lives, 1000000);
    return 0;
}
