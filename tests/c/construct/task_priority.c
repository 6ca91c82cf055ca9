/* Of the tasks that are ready, one of higher priority is taken first, where the user has allowed
 * priorities. The specification calls it a hint; GCC's runtime follows it, and so must we.
 * test: env OMP_MAX_TASK_PRIORITY=100
 */
#include "testing.h"
#include <omp.h>

enum { TASKS = 30 };

static int order[TASKS], taken;

/* One member, so the order of execution is the order of choice. */
static void chosen_by_priority(int depend) {
    taken = 0;
#pragma omp parallel num_threads(1)
    {
        int gate = 0;
        (void)gate;
#pragma omp taskgroup
        {
            for (int i = 0; i < TASKS; i++) {
                int priority = i * 7 % TASKS; /* each once, shuffled */
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

/* With more members all are executed, whatever their order. */
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
