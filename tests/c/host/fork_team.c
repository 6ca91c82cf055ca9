/* A member of a team forks while the others use the shared structures of the team: its queue of
 * tasks with priorities, and its worksharing constructs. The child is alone, and goes on with
 * tasks, constructs and regions. No lost member holds a lock for ever in the child.
 * test: env OMP_MAX_TASK_PRIORITY=100
 * test: not stock the child of a member waits for workers that the fork did not copy
 */
#include "process.h"
#include <omp.h>

enum { FORKS = 30, MEMBERS = 3, TASKS = 50, AHEAD = 4000, LOOKED_AT = 200 };

static int stop, met;

static void make_tasks(void) {
    int done = 0;
#pragma omp taskgroup
    for (int i = 0; i < TASKS; i++) {
#pragma omp task priority(1 + i % 10) shared(done)
        INCREMENT(&done);
    }
    CHECK_EQ(GET(&done), TASKS);
}

static void region(void) {
    int members = 0;
#pragma omp parallel num_threads(2)
    {
        make_tasks();
        INCREMENT(&members);
    }
    CHECK_EQ(members, 2);
}

static void tasks(int inside) {
    SET(&stop, 0);
#pragma omp parallel num_threads(MEMBERS)
    if (omp_get_thread_num() != 0) {
        while (!GET(&stop)) make_tasks();
    } else {
        for (int i = 0; i < FORKS; i++) {
            pid_t pid = fork();
            if (pid == 0) {
                alarm(20);
                if (inside) make_tasks();
                region();
                _exit(0);
            }
            expect_child_ends_well(pid, 25);
        }
        SET(&stop, 1);
    }
}

/* The forking member has met none of the constructs of the others, which ran ahead, so each
 * construct has its slot outside the ring. */
static void meet_constructs(int count) {
    for (int i = 0; i < count; i++) {
#pragma omp for schedule(dynamic) nowait
        for (int j = 0; j < 2; j++) INCREMENT(&met);
    }
}

static void constructs(void) {
    SET(&met, 0);
#pragma omp parallel num_threads(MEMBERS)
    {
        if (omp_get_thread_num() == 0) {
            AWAIT(&met, 2 * LOOKED_AT);
            pid_t pid = fork();
            if (pid == 0) {
                alarm(20);
                meet_constructs(LOOKED_AT / 2);
                _exit(0);
            }
            expect_child_ends_well(pid, 25);
        }
        meet_constructs(AHEAD);
    }
    CHECK_EQ(met, 2 * AHEAD);
}

int main(void) {
    test_limit(60);
    omp_set_max_active_levels(2);
    tasks(0);
    tasks(1);
    for (int i = 0; i < FORKS; i++) constructs();
    return 0;
}
