/* Cancellation of parallel, for, sections and taskgroup ends the construct that it names and
 * nothing else. It does nothing unless OMP_CANCELLATION is true.
 * test: env OMP_CANCELLATION=true
 * test: env OMP_CANCELLATION=false
 * test: env OMP_CANCELLATION=true OMP_WAIT_POLICY=passive
 */
#include "testing.h"
#include <omp.h>

/* All other members are stuck in a region that only cancellation ends. They spin at a cancellation
 * point, or sleep at a barrier that one member never reaches. */
static void parallel_at_point(int size) {
    int reached_end = 0;
#pragma omp parallel num_threads(size)
    {
        if (omp_get_thread_num() == size - 1) {
            pause_ms(2);
#pragma omp cancel parallel
        }
        for (;;) {
#pragma omp cancellation point parallel
            sched_yield();
        }
        INCREMENT(&reached_end);
    }
    CHECK_EQ(reached_end, 0);
}

static void parallel_at_barrier(int size) {
    int passed = 0;
#pragma omp parallel num_threads(size)
    {
        if (omp_get_thread_num() == 0) {
            pause_ms(3);
#pragma omp cancel parallel
        }
#pragma omp barrier
        INCREMENT(&passed);
    }
    CHECK_EQ(passed, 0);
}

static void parallel_if(int size) {
    int passed = 0;
    volatile int no = 0;
#pragma omp parallel num_threads(size)
    {
#pragma omp cancel parallel if (no)
        INCREMENT(&passed);
    }
    CHECK_EQ(passed, size);
}

/* A member that passed a cancellation point after the cancellation begins no further iteration. */
static void loop(int size) {
    int executed = 0, behind = 0;
#pragma omp parallel num_threads(size)
    {
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < 1000000; i++) {
#pragma omp cancellation point for
            INCREMENT(&executed);
            if (i == 100) {
#pragma omp cancel for
            }
            if (i > 100) sched_yield();
        }
        INCREMENT(&behind);
#pragma omp barrier
        CHECK_EQ(GET(&behind), size);
    }
    /* The number of iterations before it is open: members may be anywhere in their chunks. */
    CHECK(executed >= 1 && executed < 1000000);
    CHECK_EQ(behind, size); /* the region itself goes on */
}

static void loop_static(int size) {
    int executed = 0;
#pragma omp parallel num_threads(size)
#pragma omp for schedule(static)
    for (int i = 0; i < 1000000; i++) {
#pragma omp cancellation point for
        if (INCREMENT(&executed) >= 100) {
#pragma omp cancel for
        }
    }
    CHECK(executed >= 100 && executed < 100 + size);
}

static void sections(int size) {
    int executed = 0, behind = 0;
#pragma omp parallel num_threads(size)
    {
#pragma omp sections
        {
#pragma omp section
            {
                INCREMENT(&executed);
#pragma omp cancel sections
                INCREMENT(&executed);
            }
#pragma omp section
            while (size > 1) {
                sched_yield();
#pragma omp cancellation point sections
            }
        }
        INCREMENT(&behind);
    }
    CHECK(executed <= 1);
    CHECK_EQ(behind, size);
}

/* Queued tasks of a cancelled group are dropped, and running tasks go on to their end or their next
 * cancellation point. Tasks outside the group are not concerned. */
static void taskgroup(int size) {
    enum { TASKS = 50 };
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int round = 0; round < 10; round++) {
        int executed = 0, outside = 0;
#pragma omp task shared(outside)
        INCREMENT(&outside);
#pragma omp taskgroup
        {
#pragma omp task shared(executed)
            {
                INCREMENT(&executed);
#pragma omp cancel taskgroup
                INCREMENT(&executed);
                CHECK(!"behind cancel");
            }
            /* These tasks begin only when the first has completed. */
            AWAIT(&executed, size > 1 ? 1 : 0);
            for (int i = 0; i < TASKS; i++) {
#pragma omp task
                while (size > 1) { /* in a team of one, this task might run first */
                    sched_yield();
#pragma omp cancellation point taskgroup
                }
            }
        }
        CHECK_EQ(GET(&executed), 1);
#pragma omp taskwait
        CHECK_EQ(GET(&outside), 1);
    }
}

/* The group of a taskloop, and tasks with dependences in a cancelled group. */
static void taskgroup_depend(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int round = 0; round < 10; round++) {
        int x = 0, executed = 0;
#pragma omp taskgroup
        {
#pragma omp task depend(inout : x) shared(executed)
            {
                INCREMENT(&executed);
#pragma omp cancel taskgroup
            }
            for (int i = 0; i < 30; i++) {
#pragma omp task depend(inout : x) shared(executed, x)
                {
                    x++;
                    INCREMENT(&executed);
                }
            }
        }
        CHECK_EQ(GET(&executed), 1);
#pragma omp task depend(inout : x) shared(executed, x)
        INCREMENT(&executed);
#pragma omp taskwait
        CHECK_EQ(GET(&executed), 2);
    }
}

/* A cancelled region leaves nothing behind for the next region of the team. */
static void next_region(int size) {
    for (int round = 0; round < 50; round++) {
        int passed = 0, sum = 0;
#pragma omp parallel num_threads(size)
        {
#pragma omp for schedule(dynamic, 1) nowait
            for (int i = 0; i < 10; i++) sched_yield();
            if (omp_get_thread_num() == round % size) {
#pragma omp cancel parallel
            }
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
            for (int i = 0; i < 10; i++) sched_yield();
        }
#pragma omp parallel num_threads(size)
        {
            INCREMENT(&passed);
#pragma omp barrier
            CHECK_EQ(GET(&passed), size);
#pragma omp for schedule(dynamic, 1)
            for (int i = 0; i < 10; i++) INCREMENT(&sum);
            CHECK_EQ(GET(&sum), 10);
        }
    }
}

/* The member that cancels goes to the end at once; the others meet more constructs before they
 * notice. The next region starts with new constructs for all of them. */
static void uneven(int size) {
    for (int round = 0; round < 40; round++) {
        int sum = 0;
#pragma omp parallel num_threads(size)
        {
            if (omp_get_thread_num() == round % size) {
#pragma omp cancel parallel
            }
            for (int loop = 0; loop < round % 7; loop++) {
#pragma omp for schedule(dynamic, 1) nowait
                for (int i = 0; i < 4; i++) sched_yield();
#pragma omp single nowait
                sched_yield();
            }
#pragma omp cancellation point parallel
        }
        for (int again = 0; again < 3; again++) {
            sum = 0;
#pragma omp parallel num_threads(size)
            for (int loop = 1; loop <= 3; loop++) {
#pragma omp for schedule(dynamic, 1)
                for (int i = 0; i < 20; i++) INCREMENT(&sum);
                CHECK_EQ(GET(&sum), 21 * loop - 1);
#pragma omp barrier
#pragma omp single
                INCREMENT(&sum);
            }
            CHECK_EQ(sum, 63);
        }
    }
}

/* Only the innermost team is cancelled. */
static void nested(void) {
    int inner_passed = 0, outer_passed = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 1) {
#pragma omp cancel parallel
            }
#pragma omp barrier
            INCREMENT(&inner_passed);
        }
#pragma omp barrier
#pragma omp cancellation point parallel
        INCREMENT(&outer_passed);
    }
    CHECK_EQ(inner_passed, 0);
    CHECK_EQ(outer_passed, 2);
    omp_set_max_active_levels(1);
}

static void disabled(int size) {
    int passed = 0, executed = 0;
#pragma omp parallel num_threads(size)
    {
#pragma omp cancel parallel
#pragma omp cancellation point parallel
#pragma omp for
        for (int i = 0; i < 100; i++) {
            INCREMENT(&executed);
#pragma omp cancel for
        }
#pragma omp taskgroup
        {
#pragma omp task
            {
#pragma omp cancel taskgroup
                INCREMENT(&executed);
            }
        }
        INCREMENT(&passed);
    }
    CHECK_EQ(passed, size);
    CHECK_EQ(executed, 100 + size);
}

int main(void) {
    test_limit(40);
    for (int size = 1; size <= 4; size++) {
        if (!omp_get_cancellation()) {
            disabled(size);
            continue;
        }
        parallel_at_point(size);
        parallel_at_barrier(size);
        parallel_if(size);
        loop(size);
        loop_static(size);
        sections(size);
        taskgroup(size);
        taskgroup_depend(size);
        next_region(size);
        uneven(size);
    }
    if (omp_get_cancellation()) nested();
    return 0;
}
