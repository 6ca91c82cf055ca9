/* A barrier holds every member until the last arrives, publishes all writes before it, and serves
 * again at once. The barriers at the end of worksharing constructs and regions do the same.
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 * test: env CAPSTAN_WAIT=spin:off
 * test: env CAPSTAN_WAIT=yield:off
 */
#include "testing.h"
#include <omp.h>

enum { MOST = 8 };

static int plain[MOST];

/* One member sleeps and comes late: without the barrier the others would miss its value. */
static void late_member(int size) {
    for (int late = 0; late < size; late++) {
#pragma omp parallel num_threads(size)
        {
            int me = omp_get_thread_num();
            if (me == late) pause_ms(5);
            plain[me] = 100 + late;
#pragma omp barrier
            for (int other = 0; other < size; other++) CHECK_EQ(plain[other], 100 + late);
        }
    }
}

/* In each round a member reads the values that the others wrote in it, and no value of the next
 * round. */
static void many_rounds(int size, int rounds) {
#pragma omp parallel num_threads(size)
    {
        int me = omp_get_thread_num();
        for (int round = 1; round <= rounds; round++) {
            plain[me] = round;
#pragma omp barrier
            CHECK_EQ(plain[(me + 1) % size], round);
            CHECK_EQ(plain[(me + size - 1) % size], round);
#pragma omp barrier
        }
    }
}

/* The slow member differs from round to round, so members arrive in every order. */
static void drifting_rounds(int size) {
#pragma omp parallel num_threads(size)
    {
        int me = omp_get_thread_num();
        for (int round = 1; round <= 30; round++) {
            if (round % size == me) pause_ms(1);
            if (round % 3 == me % 3) sched_yield();
            plain[me] = -round;
#pragma omp barrier
            for (int other = 0; other < size; other++) CHECK_EQ(plain[other], -round);
#pragma omp barrier
        }
    }
}

static void end_of_worksharing(int size) {
    for (int late = 0; late < size; late++) {
        int for_done = 0, single_done = 0, section_done = 0;
#pragma omp parallel num_threads(size)
        {
            int me = omp_get_thread_num();
#pragma omp for schedule(dynamic, 1)
            for (int i = 0; i < size; i++) {
                if (me == late) pause_ms(3);
                INCREMENT(&for_done);
            }
            CHECK_EQ(GET(&for_done), size);
#pragma omp barrier
#pragma omp single
            {
                pause_ms(3);
                SET(&single_done, 1);
            }
            CHECK_EQ(GET(&single_done), 1);
#pragma omp sections
            {
#pragma omp section
                {
                    pause_ms(3);
                    INCREMENT(&section_done);
                }
#pragma omp section
                INCREMENT(&section_done);
            }
            CHECK_EQ(GET(&section_done), 2);
        }
    }
}

static void end_of_region(int size) {
    for (int late = 0; late < size; late++) {
        int done = 0;
#pragma omp parallel num_threads(size)
        {
            if (omp_get_thread_num() == late) pause_ms(5);
            INCREMENT(&done);
        }
        CHECK_EQ(done, size);
    }
}

/* Regions one after the other: members see the master's writes before a region, and the master sees
 * the members' writes after it. */
static void many_regions(int size, int rounds) {
    int before = 0;
    for (int round = 1; round <= rounds; round++) {
        before = round;
#pragma omp parallel num_threads(size)
        {
            CHECK_EQ(before, round);
            plain[omp_get_thread_num()] = round;
        }
        for (int member = 0; member < size; member++) CHECK_EQ(plain[member], round);
    }
}

/* The arrival of the last member opens a barrier, so behind it the counter of the barrier is
 * full. */
static void counted(int size) {
    enum { ROUNDS = 500 };
    static int arrived[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) arrived[round] = 0;
#pragma omp parallel num_threads(size)
    for (int round = 0; round < ROUNDS; round++) {
        INCREMENT(&arrived[round]);
#pragma omp barrier
        CHECK_EQ(GET(&arrived[round]), size);
    }
}

int main(void) {
    test_limit(50);
    const int sizes[] = {1, 2, 3, 4, 5, 7, 8};
    for (unsigned which = 0; which < sizeof sizes / sizeof *sizes; which++) {
        int size = sizes[which];
        late_member(size);
        many_rounds(size, size <= 2 ? 20000 : 300);
        drifting_rounds(size);
        end_of_worksharing(size);
        end_of_region(size);
        many_regions(size, size <= 2 ? 20000 : 300);
        counted(size);
    }
    return 0;
}
