/* A fork by a member of a team while the others are at what the team has in common: its queue of
 * tasks with a priority, and its worksharing constructs. The child, which is alone, goes on with
 * tasks, constructs and regions; it finds no lock that nobody will release.
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

/* The member that forks has seen none of the constructs that the others have run ahead to, so each
 * has its slot beside the ring. */
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
