/* A forked child runs its own regions, and so do its children, while the parent goes on. GCC's
 * runtime hangs in the child.
 * test: not stock libgomp's child waits for workers that the fork did not copy
 * test: not qemu qemu has a thread of its own
 */
#include "process.h"
#include <omp.h>

static int mine = -1;
#pragma omp threadprivate(mine)

static void regions(int most) {
    for (int size = 1; size <= most; size++) {
        int sum = 0, tasks = 0;
#pragma omp parallel num_threads(size)
        {
            CHECK_EQ(omp_get_num_threads(), size);
#pragma omp for schedule(dynamic)
            for (int i = 0; i < 20; i++) INCREMENT(&sum);
#pragma omp task
            INCREMENT(&tasks);
#pragma omp critical
            sched_yield();
#pragma omp barrier
            CHECK_EQ(GET(&sum), 20);
            CHECK_EQ(GET(&tasks), size);
        }
    }
    omp_set_max_active_levels(2);
    int inner = 0;
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
    INCREMENT(&inner);
    CHECK_EQ(inner, 6);
    omp_set_max_active_levels(1);
}

/* The child inherits control variables and the caller's threadprivate values, like memory. */
static void inherited(void) {
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    CHECK_EQ(kind, omp_sched_guided);
    CHECK_EQ(chunk, 17);
    CHECK_EQ(omp_get_max_threads(), 5);
    CHECK_EQ(mine, 99);
    CHECK_EQ(omp_get_level(), 0);
    CHECK_EQ(omp_get_num_threads(), 1);
}

static _Noreturn void child(int generations) {
    alarm(30);
    CHECK_EQ(thread_count(), 1);
    inherited();
    regions(4);
    if (generations > 0) {
        pid_t pid = fork();
        if (pid == 0) child(generations - 1);
        expect_child_ends_well(pid, 25);
        regions(3);
    }
    exit(0);
}

int main(void) {
    test_limit(55);
    omp_set_schedule(omp_sched_guided, 17);
    omp_set_num_threads(5);
    mine = 99;
    /* The process forks before any region, after a region, and often. */
    for (int round = 0; round < 25; round++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) child(round % 3);
        if (round % 2) regions(3); /* the parent and the child at the same time */
        expect_child_ends_well(pid, 40);
        regions(3);
        inherited();
    }
    return 0;
}
