/* Iterations that wait for later ones: each even one waits for its odd neighbour. With
 * CAPSTAN_BATCHES=false a member claims one chunk at a time, as on libgomp, so some member comes to
 * the neighbour. OpenMP promises it of no dynamic loop.
 * test: env CAPSTAN_BATCHES=false
 * test: not clang-stock libomp gives each member a range of its own
 */
#include "testing.h"
#include <omp.h>

enum { MOST = 600 };

static void pairs(int size, int count) {
    static char done[MOST];
    int waited = 0;
    for (int i = 0; i < count; i++) SET(&done[i], 0);
#pragma omp parallel for num_threads(size) schedule(dynamic, 1) reduction(+ : waited)
    for (int i = 0; i < count; i++) {
        if (i % 2 == 1) {
            SET(&done[i], 1);
        } else {
            AWAIT(&done[i + 1], 1);
            waited++;
        }
    }
    CHECK_EQ(waited, count / 2);
}

static void pairs_monotonic(int size, int count) {
    static char done[MOST];
    for (int i = 0; i < count; i++) SET(&done[i], 0);
#pragma omp parallel num_threads(size)
#pragma omp for schedule(monotonic : dynamic, 1)
    for (int i = 0; i < count; i++) {
        if (i % 2 == 1)
            SET(&done[i], 1);
        else
            AWAIT(&done[i + 1], 1);
    }
}

int main(void) {
    static const int sizes[] = {2, 3, 5, 21};
    for (int i = 0; i < 4; i++)
        for (int count = 2; count <= MOST; count *= 3) {
            pairs(sizes[i], count - count % 2);
            pairs_monotonic(sizes[i], count - count % 2);
        }
    return 0;
}
