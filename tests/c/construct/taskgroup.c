/* A taskgroup waits for all descendants made in it, and for no task made before.
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 */
#include "testing.h"
#include <omp.h>
#include <pthread.h>
#include <stdint.h>

static void descend(int depth, int *leaves) {
    if (depth == 0) {
        sched_yield();
        INCREMENT(leaves);
        return;
    }
    for (int child = 0; child < 3; child++) {
#pragma omp task firstprivate(depth, leaves)
        descend(depth - 1, leaves);
    }
}

static void descendants(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int round = 0; round < 20; round++) {
        int leaves = 0;
#pragma omp taskgroup
        descend(4, &leaves);
        CHECK_EQ(GET(&leaves), 81);
    }
}

/* The grandchild sleeps on another member, and its parent ended long before. */
static void slow_grandchild(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int round = 0; round < 10; round++) {
        int done = 0;
#pragma omp taskgroup
        {
#pragma omp task shared(done)
            {
#pragma omp task shared(done)
                {
                    pause_ms(2);
                    INCREMENT(&done);
                }
#pragma omp task shared(done)
                {
                    pause_ms(2);
                    INCREMENT(&done);
                }
            }
        }
        CHECK_EQ(GET(&done), 2);
    }
}

/* A task that was made before the group completes only behind it. */
static void not_those_before(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        omp_event_handle_t event;
        int inner = 0;
#pragma omp task detach(event)
        sched_yield();
#pragma omp taskgroup
        {
#pragma omp task shared(inner)
            SET(&inner, 1);
        }
        CHECK_EQ(GET(&inner), 1);
        omp_fulfill_event(event);
    }
}

static void nested_groups(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int round = 0; round < 20; round++) {
        int outer = 0, inner = 0;
#pragma omp taskgroup
        {
            for (int i = 0; i < 5; i++) {
#pragma omp task shared(outer, inner)
                {
                    int mine = 0;
#pragma omp taskgroup
                    {
#pragma omp task shared(mine, inner)
                        {
#pragma omp task shared(mine, inner)
                            {
                                sched_yield();
                                INCREMENT(&mine);
                                INCREMENT(&inner);
                            }
                        }
                    }
                    CHECK_EQ(GET(&mine), 1);
                    INCREMENT(&outer);
                }
            }
        }
        CHECK_EQ(GET(&outer), 5);
        CHECK_EQ(GET(&inner), 5);
    }
}

/* Every member has its own group at the same time. */
static void everyone(int size) {
#pragma omp parallel num_threads(size)
    for (int round = 0; round < 30; round++) {
        int leaves = 0;
#pragma omp taskgroup
        descend(2, &leaves);
        CHECK_EQ(GET(&leaves), 9);
    }
}

int main(void) {
    test_limit(50);
    for (int size = 1; size <= 4; size++) {
        descendants(size);
        slow_grandchild(size);
        not_those_before(size);
        nested_groups(size);
        everyone(size);
    }
    int leaves = 0; /* outside of a region */
#pragma omp taskgroup
    descend(3, &leaves);
    CHECK_EQ(leaves, 27);
    return 0;
}
