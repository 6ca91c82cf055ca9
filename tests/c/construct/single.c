/* Exactly one member executes a single construct, and it may be any member. copyprivate hands its
 * values to all members before it goes on.
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 */
#include "testing.h"
#include <omp.h>

static void exactly_one(int size, int rounds) {
    long executed = 0;
#pragma omp parallel num_threads(size)
    for (int round = 0; round < rounds; round++) {
#pragma omp single
        executed++; /* plain: the barrier of the single orders it */
        CHECK_EQ(executed, round + 1);
#pragma omp barrier
    }
    CHECK_EQ(executed, rounds);
}

static void exactly_one_nowait(int size, int rounds) {
    int executed = 0;
#pragma omp parallel num_threads(size)
    for (int round = 0; round < rounds; round++) {
#pragma omp single nowait
        INCREMENT(&executed);
    }
    CHECK_EQ(executed, rounds);
}

/* The member that comes first executes the construct. The test makes the others late, so that each
 * member gets its turn. */
static void anyone(int size) {
    for (int chosen = 0; chosen < size; chosen++) {
        int by = -1, go = 0;
#pragma omp parallel num_threads(size)
        {
            int me = omp_get_thread_num();
            if (me != chosen) AWAIT(&go, 1);
#pragma omp single nowait
            by = me;
            if (me == chosen) SET(&go, 1);
        }
        CHECK_EQ(by, chosen);
    }
}

struct wide {
    int number;
    double more[9];
};

/* Each member produces in turn, and changes its copy at once behind the construct. The late members
 * must still get the value of the single. */
static void copy(int size) {
    for (int producer = 0; producer < size; producer++) {
        int go = 0, executed = 0;
#pragma omp parallel num_threads(size)
        {
            int me = omp_get_thread_num();
            int value = -1 - me;
            struct wide wide = {.number = me};
            int *address = NULL;
            if (me != producer) AWAIT(&go, 1);
#pragma omp single copyprivate(value, wide, address)
            {
                INCREMENT(&executed);
                value = 1000 + me;
                wide.number = me;
                wide.more[8] = 0.5 + me;
                address = &value;
                SET(&go, 1);
                pause_ms(1);
            }
            CHECK_EQ(value, 1000 + producer);
            CHECK_EQ(wide.number, producer);
            CHECK(wide.more[8] == 0.5 + producer);
            CHECK((address == &value) == (me == producer));
            value = 0;
            wide = (struct wide){0};
        }
        CHECK_EQ(executed, 1);
    }
}

/* Singles back to back, without other synchronization. A producer must not run ahead of members
 * that still copy, and no member may take the slot of one round for the slot of the next. */
static void copy_often(int size, int rounds) {
#pragma omp parallel num_threads(size)
    for (int round = 0; round < rounds; round++) {
        int value = -1, who = -1;
#pragma omp single copyprivate(value, who)
        {
            value = round;
            who = omp_get_thread_num();
        }
        CHECK_EQ(value, round);
        CHECK(who >= 0 && who < size);
        value = who = -2;
    }
}

/* Outside a region the calling thread executes the single. */
static void orphaned(void) {
    int value = 0;
#pragma omp single
    value++;
#pragma omp single copyprivate(value)
    value++;
    CHECK_EQ(value, 2);
}

int main(void) {
    test_limit(50);
    const int sizes[] = {1, 2, 3, 4, 8};
    for (unsigned which = 0; which < sizeof sizes / sizeof *sizes; which++) {
        int size = sizes[which];
        exactly_one(size, size <= 2 ? 10000 : 200);
        exactly_one_nowait(size, 5000);
        anyone(size);
        copy(size);
        copy_often(size, size <= 2 ? 10000 : 200);
    }
    orphaned();
    return 0;
}
