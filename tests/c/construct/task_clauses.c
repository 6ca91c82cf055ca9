/* The clauses if(0), final, mergeable and untied: when a task runs, and the answer of
 * omp_in_final. */
#include "testing.h"
#include <omp.h>

/* An undeferred task is complete behind its construct, and this thread ran it. */
static void if_false(int size) {
#pragma omp parallel num_threads(size)
    for (int round = 0; round < 100; round++) {
        int done = 0, by = -1;
#pragma omp task if (0) shared(done, by)
        {
            sched_yield();
            done = 1;
            by = omp_get_thread_num();
        }
        CHECK_EQ(done, 1);
        CHECK_EQ(by, omp_get_thread_num());
    }
}

/* The children of an undeferred task may be deferred, and a taskwait in it waits for them. */
static void children_of_undeferred(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        int done = 0;
#pragma omp task if (0) shared(done)
        {
            for (int i = 0; i < 10; i++) {
#pragma omp task shared(done)
                {
                    sched_yield();
                    INCREMENT(&done);
                }
            }
#pragma omp taskwait
            CHECK_EQ(GET(&done), 10);
        }
    }
}

static void final(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        CHECK_EQ(omp_in_final(), 0);
        int deep = 0;
#pragma omp task final(1) shared(deep)
        {
            CHECK_EQ(omp_in_final(), 1);
            int here = omp_get_thread_num(), done = 0;
            /* An included task is done at once, by the same thread, and is final too. */
#pragma omp task shared(done, deep)
            {
                CHECK_EQ(omp_in_final(), 1);
                CHECK_EQ(omp_get_thread_num(), here);
#pragma omp task shared(done, deep)
                {
                    CHECK_EQ(omp_in_final(), 1);
                    done = 1;
                    deep = 1;
                }
            }
            CHECK_EQ(done, 1);
        }
#pragma omp taskwait
        CHECK_EQ(deep, 1);
#pragma omp task final(0)
        CHECK_EQ(omp_in_final(), 0);
#pragma omp taskwait
        CHECK_EQ(omp_in_final(), 0);
    }
}

static void untied_and_mergeable(int size) {
    int done = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int i = 0; i < 50; i++) {
#pragma omp task untied mergeable shared(done)
        {
#pragma omp task mergeable if (0) shared(done)
            INCREMENT(&done);
#pragma omp taskyield
            INCREMENT(&done);
        }
    }
    CHECK_EQ(done, 100);
}

/* A task sees the team of its region, whichever thread executes it. */
static void surroundings(int size) {
#pragma omp parallel num_threads(size)
    {
        for (int i = 0; i < 10; i++) {
#pragma omp task
            {
                CHECK_EQ(omp_get_num_threads(), size);
                CHECK_EQ(omp_get_level(), 1);
                CHECK(omp_get_thread_num() >= 0 && omp_get_thread_num() < size);
                CHECK_EQ(omp_get_ancestor_thread_num(0), 0);
            }
        }
    }
}

int main(void) {
    test_limit(50);
    for (int size = 1; size <= 4; size++) {
        if_false(size);
        children_of_undeferred(size);
        final(size);
        untied_and_mergeable(size);
        surroundings(size);
    }
    return 0;
}
