/* The process forks while other threads have regions open, enter and leave them, create threads and
 * hold the runtime's locks. The child, a copy of that moment, runs its own regions. On crowded
 * processors each of its rounds would take a second, so the test runs alone.
 * test: alone
 * test: not stock libgomp's child waits for workers that the fork did not copy
 * test: not qemu a child of several threads hangs there without OpenMP too
 */
#include "process.h"
#include <omp.h>
#include <pthread.h>

static int stop, opened, release;

/* Works without a yield. Beside a process that computes, each yield costs a whole time slice of
 * that process. The thousands of yields of the children would take most of a minute. */
static void work(void) {
    for (volatile int i = 0; i < 200; i++) {
    }
}

static void region(int size) {
    int count = 0;
#pragma omp parallel num_threads(size)
    {
        INCREMENT(&count);
#pragma omp barrier
        CHECK_EQ(GET(&count), size);
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 10; i++) work();
#pragma omp task
        work();
    }
}

static void *hold_a_region(void *unused) {
#pragma omp parallel num_threads(3)
    {
        INCREMENT(&opened);
        while (!GET(&release)) pause_ms(1);
#pragma omp barrier
    }
    return unused;
}

/* Changing sizes make the runtime create and hand over threads all the time. */
static void *run_regions(void *argument) {
    int seed = *(int *)argument;
    while (!GET(&stop)) region(1 + seed++ % 5);
    return NULL;
}

static void in_child(int round) {
    alarm(40); /* ends the child if the parent has ended */
    CHECK_EQ(omp_get_level(), 0);
    for (int size = 1; size <= 4; size++) region(size);
#pragma omp critical
    region(2);
    if (round % 2)
        exit(0);
    else
        _exit(0);
}

static void fork_children(int count) {
    for (int round = 0; round < count; round++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) in_child(round);
        expect_child_ends_well(pid, 30);
        if (round % 4 == 0) region(3);
    }
}

int main(void) {
    test_limit(58);
    pthread_t holder, runner[3];
    region(2);
    CHECK(pthread_create(&holder, NULL, hold_a_region, NULL) == 0);
    AWAIT(&opened, 3);
    fork_children(10);
    int seed[3] = {0, 2, 3};
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&runner[i], NULL, run_regions, &seed[i]) == 0);
    fork_children(60);
    SET(&stop, 1);
    SET(&release, 1);
    pthread_join(holder, NULL);
    for (int i = 0; i < 3; i++) pthread_join(runner[i], NULL);
    return 0;
}
