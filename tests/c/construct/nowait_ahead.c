/* With nowait a member may be any number of worksharing constructs ahead of another. The slow
 * member waits, by a flag of the program, until the fast members have passed all constructs. A
 * runtime that blocks after a fixed number of open constructs hangs here. */
#include "testing.h"
#include <omp.h>
#include <string.h>

enum { AHEAD = 300, TRIPS = 7 };

static int loops[AHEAD], singles[AHEAD], first_section[AHEAD], second_section[AHEAD];

static void clear(void) {
    for (int k = 0; k < AHEAD; k++)
        loops[k] = singles[k] = first_section[k] = second_section[k] = 0;
}

static void one_loop(int k) {
#pragma omp for schedule(dynamic, 2) nowait
    for (int i = 0; i < TRIPS; i++) INCREMENT(&loops[k]);
}

static void one_guided(int k) {
#pragma omp for schedule(guided) nowait
    for (unsigned long long i = 0; i < TRIPS; i++) INCREMENT(&loops[k]);
}

static void one_single(int k) {
#pragma omp single nowait
    INCREMENT(&singles[k]);
}

static void one_sections(int k) {
#pragma omp sections nowait
    {
#pragma omp section
        INCREMENT(&first_section[k]);
#pragma omp section
        INCREMENT(&second_section[k]);
    }
}

static void one_runtime(int k) {
#pragma omp for schedule(runtime) nowait
    for (int i = 0; i < TRIPS; i++) INCREMENT(&loops[k]);
}

enum { LOOP = 1, GUIDED = 2, SINGLE = 4, SECTIONS = 8, RUNTIME = 16 };

static void constructs(int kinds, int k) {
    if (kinds & LOOP) one_loop(k);
    if (kinds & SINGLE) one_single(k);
    if (kinds & SECTIONS) one_sections(k);
    if (kinds & GUIDED) one_guided(k);
    if (kinds & RUNTIME) one_runtime(k);
}

/* The member `slow` meets its first construct when all other members have passed their last. */
static void run(int size, int slow, int kinds) {
    int passed = 0;
    clear();
#pragma omp parallel num_threads(size)
    {
        if (omp_get_thread_num() == slow) AWAIT(&passed, size - 1);
        for (int k = 0; k < AHEAD; k++) constructs(kinds, k);
        INCREMENT(&passed);
    }
    int trips = TRIPS * (!!(kinds & LOOP) + !!(kinds & GUIDED) + !!(kinds & RUNTIME));
    for (int k = 0; k < AHEAD; k++) {
        CHECK_EQ(loops[k], trips);
        CHECK_EQ(singles[k], !!(kinds & SINGLE));
        CHECK_EQ(first_section[k], !!(kinds & SECTIONS));
        CHECK_EQ(second_section[k], !!(kinds & SECTIONS));
    }
}

/* Members stop at different constructs. When the fastest member has passed all constructs, the next
 * one goes on. The oldest construct in use belongs to the slowest member, not to the last
 * arrival. */
static void staircase(int size) {
    int passed = 0;
    clear();
#pragma omp parallel num_threads(size)
    {
        int me = omp_get_thread_num();
        for (int k = 0; k < AHEAD; k++) {
            if (k == AHEAD * me / size) AWAIT(&passed, size - 1 - me);
            constructs(LOOP | SINGLE | SECTIONS, k);
        }
        INCREMENT(&passed);
    }
    for (int k = 0; k < AHEAD; k++) {
        CHECK_EQ(loops[k], TRIPS);
        CHECK_EQ(singles[k], 1);
        CHECK_EQ(first_section[k], 1);
        CHECK_EQ(second_section[k], 1);
    }
}

/* The fast members run ahead, the slow member catches up, and they run ahead again. The memory of
 * the first burst serves the next. */
static void bursts(int size) {
    const int length[] = {40, 100, 250, 30, 299};
    int passed[5] = {0}, caught_up[5] = {0};
    static int count[5][AHEAD];
    memset(count, 0, sizeof count);
#pragma omp parallel num_threads(size)
    for (int burst = 0; burst < 5; burst++) {
        int slow = omp_get_thread_num() == burst % size;
        if (slow) AWAIT(&passed[burst], size - 1);
        for (int k = 0; k < length[burst]; k++) {
#pragma omp for schedule(dynamic, 1) nowait
            for (int i = 0; i < 3; i++) INCREMENT(&count[burst][k]);
        }
        INCREMENT(slow ? &caught_up[burst] : &passed[burst]);
        AWAIT(&caught_up[burst], 1);
    }
    for (int burst = 0; burst < 5; burst++)
        for (int k = 0; k < AHEAD; k++) CHECK_EQ(count[burst][k], k < length[burst] ? 3 : 0);
}

int main(void) {
    test_limit(50);
    omp_set_schedule(omp_sched_dynamic, 3);
    bursts(2); /* first, while a team's memory is still small */
    for (int round = 0; round < 3; round++)
        for (int size = 2; size <= 4; size++) {
            for (int slow = 0; slow < size; slow++) {
                run(size, slow, LOOP);
                run(size, slow, SINGLE);
                run(size, slow, SECTIONS);
                run(size, slow, GUIDED);
                run(size, slow, RUNTIME);
                run(size, slow, LOOP | GUIDED | SINGLE | SECTIONS | RUNTIME);
            }
            staircase(size);
            bursts(size);
        }
    return 0;
}
