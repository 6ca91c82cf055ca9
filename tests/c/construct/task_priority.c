/* If the user allows priorities, members take ready tasks of higher priority first. The
 * specification calls the priority a hint; GCC's runtime follows it, and so does Capstan.
 * test: env OMP_MAX_TASK_PRIORITY=100
 */
#include "testing.h"
#include <omp.h>

enum { TASKS = 30 };

static int order[TASKS], taken;

/* The team has one member, so tasks run in the order in which it chooses them. */
static void chosen_by_priority(int depend) {
    taken = 0;
#pragma omp parallel num_threads(1)
    {
        int gate = 0;
        (void)gate;
#pragma omp taskgroup
        {
            for (int i = 0; i < TASKS; i++) {
                int priority = i * 7 % TASKS; /* each value once, shuffled */
                if (depend) {
#pragma omp task priority(priority) depend(in : gate)
                    order[taken++] = priority;
                } else {
#pragma omp task priority(priority)
                    order[taken++] = priority;
                }
            }
        }
    }
    CHECK_EQ(taken, TASKS);
    for (int i = 0; i < TASKS; i++) CHECK_EQ(order[i], TASKS - 1 - i);
}

/* With more members all tasks are executed, in any order. */
static void all_executed(int size) {
    int done = 0;
#pragma omp parallel num_threads(size)
    for (int i = 0; i < 200; i++) {
#pragma omp task priority(i % 100) shared(done)
        {
#pragma omp task priority(100 - i % 100) shared(done)
            INCREMENT(&done);
            INCREMENT(&done);
        }
    }
    CHECK_EQ(done, 400 * size);
}

int main(void) {
    test_limit(30);
    CHECK_EQ(omp_get_max_task_priority(), 100);
    chosen_by_priority(0);
    chosen_by_priority(1);
    for (int size = 1; size <= 4; size++) all_executed(size);
    return 0;
}
