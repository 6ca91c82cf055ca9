/* Thousands of addresses are in the depend clauses of siblings, and only some are alive at a time.
 * The runtime may forget dead entries, without effect on the order. Each address has a chain of
 * tasks. A task with an event that is fulfilled late holds up some chains, so that live entries lie
 * between dead ones. Tasks count without atomics, so that ThreadSanitizer judges the runtime's
 * ordering.
 *
 * test: not stock libgomp's task waits for all earlier tasks, here for ever
 */
#include "testing.h"
#include <omp.h>

enum { ADDRESSES = 3001, ROUNDS = 12, HELD_EVERY = 7, TEAM = 3, REPEATS = 3 };

static int count[ADDRESSES];
static int gate, opened;

/* The depend clauses name these addresses. They are not evenly spaced, so that some collide in the
 * runtime's hash table. */
static char area[64 * ADDRESSES];

static int at(int i) {
    return 64 * i + (int)((unsigned)i * 2654435761u >> 26);
}

static int is_held(int i) {
    return i % HELD_EVERY == 0;
}

static void visit(int i, int round) {
    if (is_held(i) && round > 0) CHECK_EQ(opened, 1);
    CHECK_EQ(count[i], round);
    count[i] = round + 1;
}

/* Two readers between two writers. */
static void read_twice(int i, int round) {
    for (int reader = 0; reader < 2; reader++) {
#pragma omp task depend(in : area[at(i)]) firstprivate(i, round)
        CHECK_EQ(count[i], round + 1);
    }
}

static void make(int i, int round) {
    if (is_held(i) && round == 1) {
#pragma omp task depend(in : gate) depend(out : area[at(i)]) firstprivate(i, round)
        visit(i, round);
    } else {
#pragma omp task depend(out : area[at(i)]) firstprivate(i, round)
        visit(i, round);
    }
    if (round % 4 == 2) read_twice(i, round);
}

static void chains(void) {
    for (int i = 0; i < ADDRESSES; i++) count[i] = 0;
    opened = 0;
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    {
        omp_event_handle_t open;
#pragma omp task detach(open) depend(out : gate)
        {}
        for (int round = 0; round < ROUNDS; round++)
            for (int i = 0; i < ADDRESSES; i++) make(i, round);
        opened = 1;
        omp_fulfill_event(open);
        for (int i = 0; i < ADDRESSES; i += HELD_EVERY * 11) {
#pragma omp taskwait depend(in : area[at(i)])
            CHECK_EQ(count[i], ROUNDS);
        }
    }
    for (int i = 0; i < ADDRESSES; i++) CHECK_EQ(count[i], ROUNDS);
}

int main(void) {
    test_limit(50);
    for (int repeat = 0; repeat < REPEATS; repeat++) chains();
    return 0;
}
