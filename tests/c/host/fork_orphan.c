/* A member forks while its team has tasks under way and tasks to begin. In the child the other
 * members are gone, and the member still reaches the end of the region. It runs the tasks that no
 * member had begun, and never waits for work of the lost members. Later regions have a full team
 * again.
 *
 * test: not stock the child waits for members that the fork did not copy
 */
#include "process.h"
#include <omp.h>

enum { MEMBERS = 3, TASKS = 5 };

static int begun, done, release;

/* Makes one task that another member runs, and TASKS tasks that no member has begun. */
static void make_tasks(int taken) {
    for (int i = 0; i < taken; i++) {
#pragma omp task
        {
            INCREMENT(&begun);
            while (!GET(&release)) usleep(100);
        }
    }
    while (GET(&begun) < taken) usleep(100);
    for (int i = 0; i < TASKS; i++) {
#pragma omp task
        INCREMENT(&done);
    }
}

static void new_region(void) {
    int count = 0;
#pragma omp parallel num_threads(MEMBERS)
    {
        INCREMENT(&count);
#pragma omp barrier
        CHECK_EQ(GET(&count), MEMBERS);
    }
    CHECK_EQ(count, MEMBERS);
}

/* All other members are in a task, so that none begins the waiting tasks before the fork. */
static void by_master(void) {
    pid_t pid = -1;
    begun = done = release = 0;
#pragma omp parallel num_threads(MEMBERS)
    {
#pragma omp masked
        {
            make_tasks(MEMBERS - 1);
            pid = fork();
            CHECK(pid >= 0);
            if (pid == 0) {
                alarm(20);
            } else {
                expect_child_ends_well(pid, 20);
                SET(&release, 1);
            }
#pragma omp taskwait
            CHECK_EQ(GET(&done), TASKS);
#pragma omp taskgroup
            {
#pragma omp task
                INCREMENT(&done);
            }
            CHECK_EQ(GET(&done), TASKS + 1);
        }
#pragma omp barrier
    }
    if (pid > 0) return;
    for (int i = 0; i < 3; i++) new_region();
    exit(0);
}

static int in_workers_child, passed;

static void tell(void) {
    if (in_workers_child) _exit(passed == 2 ? 0 : 9);
}

/* The worker that goes on in the child has no caller to return to: the process ends as after
 * pthread_exit. */
static void by_worker(void) {
    passed = 0;
#pragma omp parallel num_threads(MEMBERS)
    {
        if (omp_get_thread_num() == MEMBERS - 1) {
            pid_t pid = fork();
            CHECK(pid >= 0);
            if (pid == 0) {
                alarm(20);
                in_workers_child = 1;
            } else {
                expect_child_ends_well(pid, 20);
            }
        }
#pragma omp barrier
        if (in_workers_child) INCREMENT(&passed);
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 10; i++) {
        }
        if (in_workers_child) INCREMENT(&passed);
    }
    CHECK(!in_workers_child);
}

int main(void) {
    test_limit(55);
    atexit(tell);
    for (int i = 0; i < 5; i++) {
        by_master();
        by_worker();
    }
    return 0;
}
