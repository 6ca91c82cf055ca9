/* A critical section excludes all sections of its name, in every team of the process, and no
 * section of another name.
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 * test: not clang clang wants the same hint at each region of a name
 */
#include "testing.h"
#include <omp.h>
#include <pthread.h>

static int inside_unnamed, inside_red, inside_blue;
static long sum_unnamed, sum_red;

/* The section lets other threads run, so that the test sees two threads in it at once. */
static void pass(int *inside) {
    CHECK_EQ(INCREMENT(inside), 1);
    sched_yield();
    CHECK_EQ(DECREMENT(inside), 0);
}

static void exclude_within_team(void) {
#pragma omp parallel num_threads(4)
    for (int round = 0; round < 500; round++) {
#pragma omp critical
        pass(&inside_unnamed);
#pragma omp critical(red)
        pass(&inside_red);
#pragma omp critical(blue) hint(omp_sync_hint_contended)
        pass(&inside_blue);
    }
}

/* Plain variables, and no pause in the section: this is the fast path under contention. */
static void count_plainly(void) {
    enum { ROUNDS = 100000, THREADS = 3 };
    sum_unnamed = sum_red = 0;
#pragma omp parallel num_threads(THREADS)
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp critical
        sum_unnamed++;
#pragma omp critical(red)
        sum_red++;
    }
    CHECK_EQ(sum_unnamed, ROUNDS * THREADS);
    CHECK_EQ(sum_red, ROUNDS * THREADS);
}

/* Each member holds one name until the other member holds the other name. That is possible only if
 * names do not exclude each other. */
static void names_do_not_exclude(void) {
    int here[3] = {0};
#pragma omp parallel num_threads(3)
    switch (omp_get_thread_num()) {
    case 0:
#pragma omp critical
    {
        SET(&here[0], 1);
        AWAIT(&here[1], 1);
        AWAIT(&here[2], 1);
    } break;
    case 1:
#pragma omp critical(red)
    {
        SET(&here[1], 1);
        AWAIT(&here[0], 1);
        AWAIT(&here[2], 1);
    } break;
    default:
#pragma omp critical(blue)
    {
        SET(&here[2], 1);
        AWAIT(&here[0], 1);
        AWAIT(&here[1], 1);
    }
    }
}

/* Names nest. */
static void nested_names(void) {
#pragma omp parallel num_threads(4)
    for (int round = 0; round < 100; round++) {
#pragma omp critical(red)
        {
            pass(&inside_red);
#pragma omp critical(blue)
            pass(&inside_blue);
        }
    }
}

/* The holder stays long: the others sleep, and all must be woken. */
static void long_holder(void) {
    int entered = 0;
#pragma omp parallel num_threads(8)
    {
#pragma omp critical(red)
        {
            if (INCREMENT(&entered) == 1) pause_ms(30);
            pass(&inside_red);
        }
    }
    CHECK_EQ(entered, 8);
}

static void *master(void *unused) {
    exclude_within_team();
    return unused;
}

/* Sections belong to the process, not to the team. */
static void exclude_between_teams(void) {
    pthread_t masters[3];
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&masters[i], NULL, master, NULL) == 0);
    for (int i = 0; i < 3; i++) pthread_join(masters[i], NULL);
}

int main(void) {
    test_limit(50);
    exclude_within_team();
    count_plainly();
    names_do_not_exclude();
    nested_names();
    long_holder();
    exclude_between_teams();
    return 0;
}
