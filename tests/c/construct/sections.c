/* Each section is executed once, by any member, and different members take different sections at
 * the same time. */
#include "testing.h"
#include <omp.h>

static int times[6];

static void reset(void) {
    for (int i = 0; i < 6; i++) times[i] = 0;
}

static void six(void) {
#pragma omp sections
    {
#pragma omp section
        INCREMENT(&times[0]);
#pragma omp section
        INCREMENT(&times[1]);
#pragma omp section
        INCREMENT(&times[2]);
#pragma omp section
        INCREMENT(&times[3]);
#pragma omp section
        INCREMENT(&times[4]);
#pragma omp section
        INCREMENT(&times[5]);
    }
}

static void each_once(int size) {
    enum { ROUNDS = 200 };
    reset();
#pragma omp parallel num_threads(size)
    for (int round = 1; round <= ROUNDS; round++) {
        six();
        for (int i = 0; i < 6; i++) CHECK_EQ(GET(&times[i]), round);
#pragma omp barrier
    }
}

static void each_once_nowait(int size) {
    enum { ROUNDS = 500 };
    reset();
#pragma omp parallel num_threads(size)
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp sections nowait
        {
#pragma omp section
            INCREMENT(&times[0]);
#pragma omp section
            INCREMENT(&times[1]);
        }
    }
    CHECK_EQ(times[0], ROUNDS);
    CHECK_EQ(times[1], ROUNDS);
}

/* Three sections wait for each other, so three members must be in them. */
static void at_the_same_time(void) {
    int here = 0, last = 0;
#pragma omp parallel sections num_threads(3) lastprivate(last)
    {
#pragma omp section
        {
            INCREMENT(&here);
            AWAIT(&here, 3);
            last = 1;
        }
#pragma omp section
        {
            INCREMENT(&here);
            AWAIT(&here, 3);
            last = 2;
        }
#pragma omp section
        {
            INCREMENT(&here);
            AWAIT(&here, 3);
            last = 3;
        }
    }
    CHECK_EQ(last, 3);
}

static void with_reduction(int size) {
    int sum = 100;
#pragma omp parallel num_threads(size)
#pragma omp sections reduction(+ : sum)
    {
        sum += 1;
#pragma omp section
        sum += 10;
#pragma omp section
        sum += 1000;
    }
    CHECK_EQ(sum, 1111);
}

int main(void) {
    test_limit(50);
    const int sizes[] = {1, 2, 3, 5, 8};
    for (unsigned which = 0; which < sizeof sizes / sizeof *sizes; which++) {
        each_once(sizes[which]);
        each_once_nowait(sizes[which]);
        with_reduction(sizes[which]);
    }
    at_the_same_time();
    reset();
    six(); /* outside a region: the calling thread executes all */
    for (int i = 0; i < 6; i++) CHECK_EQ(times[i], 1);
    return 0;
}
