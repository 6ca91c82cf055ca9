/* Inner regions have their own teams, with real threads. The barriers, loops, singles and tasks of
 * an inner team are independent of those of the outer team.
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 */
#include "testing.h"
#include <omp.h>

/* All members of all inner teams exist at the same time. */
static void real_inner_teams(int outer, int inner) {
    int here = 0;
#pragma omp parallel num_threads(outer)
    {
        int me = omp_get_thread_num();
#pragma omp parallel num_threads(inner)
        {
            CHECK_EQ(omp_get_num_threads(), inner);
            CHECK_EQ(omp_get_level(), 2);
            CHECK_EQ(omp_get_active_level(), (outer > 1) + (inner > 1));
            CHECK_EQ(omp_get_ancestor_thread_num(1), me);
            CHECK_EQ(omp_get_ancestor_thread_num(2), omp_get_thread_num());
            CHECK_EQ(omp_get_ancestor_thread_num(0), 0);
            CHECK_EQ(omp_get_ancestor_thread_num(3), -1);
            CHECK_EQ(omp_get_team_size(0), 1);
            CHECK_EQ(omp_get_team_size(1), outer);
            CHECK_EQ(omp_get_team_size(2), inner);
            CHECK_EQ(omp_get_team_size(3), -1);
            INCREMENT(&here);
            AWAIT(&here, outer * inner);
        }
        CHECK_EQ(omp_get_level(), 1);
        CHECK_EQ(omp_get_thread_num(), me);
        CHECK_EQ(omp_get_num_threads(), outer);
    }
    CHECK_EQ(here, outer * inner);
}

/* One inner team goes through many constructs while another inner team waits. */
static void independent(int inner) {
    int passed = 0;
#pragma omp parallel num_threads(2)
    {
        int outer = omp_get_thread_num();
        int sum = 0, singles = 0, tasks = 0;
#pragma omp parallel num_threads(inner)
        {
            if (outer == 0 && omp_get_thread_num() == 0) AWAIT(&passed, 1);
            for (int round = 1; round <= 20; round++) {
#pragma omp for schedule(dynamic, 1)
                for (int i = 0; i < 5; i++) INCREMENT(&sum);
                CHECK_EQ(GET(&sum), 5 * round);
#pragma omp single
                INCREMENT(&singles);
                CHECK_EQ(GET(&singles), round);
#pragma omp task shared(tasks)
                INCREMENT(&tasks);
#pragma omp barrier
                CHECK_EQ(GET(&tasks), round * inner);
#pragma omp barrier
            }
        }
        if (outer == 1) SET(&passed, 1);
#pragma omp barrier
        CHECK_EQ(GET(&passed), 1);
    }
}

static void three_levels(void) {
    int count = 0;
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(2)
    {
        CHECK_EQ(omp_get_level(), 3);
        CHECK_EQ(omp_get_team_size(1) * 100 + omp_get_team_size(2) * 10 + omp_get_team_size(3),
                 232);
        INCREMENT(&count);
        AWAIT(&count, 12);
    }
    CHECK_EQ(count, 12);
}

/* max-active-levels-var turns further levels into teams of one. */
static void limited_levels(void) {
    for (int most = 0; most <= 3; most++) {
        omp_set_max_active_levels(most);
        CHECK_EQ(omp_get_max_active_levels(), most);
#pragma omp parallel num_threads(2)
        {
            CHECK_EQ(omp_get_num_threads(), most >= 1 ? 2 : 1);
#pragma omp parallel num_threads(2)
            {
                CHECK_EQ(omp_get_num_threads(), most >= 2 ? 2 : 1);
                CHECK_EQ(omp_get_active_level(), most < 2 ? most : 2);
#pragma omp parallel num_threads(2)
                {
                    CHECK_EQ(omp_get_num_threads(), most >= 3 ? 2 : 1);
                    CHECK_EQ(omp_get_level(), 3);
                    CHECK_EQ(omp_get_active_level(), most);
                }
            }
        }
    }
    omp_set_max_active_levels(1);
}

/* Inner regions of a team of one, and worksharing after an inner region. */
static void after_an_inner_region(int size) {
    int sum = 0;
#pragma omp parallel num_threads(size)
    {
#pragma omp for schedule(dynamic, 1) nowait
        for (int i = 0; i < 10; i++) {
            INCREMENT(&sum);
#pragma omp parallel num_threads(2)
            {
#pragma omp for schedule(dynamic, 1)
                for (int j = 0; j < 4; j++) INCREMENT(&sum);
            }
        }
#pragma omp for schedule(guided)
        for (int i = 0; i < 10; i++) INCREMENT(&sum);
    }
    CHECK_EQ(sum, 10 + 40 + 10);
}

/* Many inner regions one after the other from every member: no thread is lost or shared. */
static void churn(void) {
    long total = 0;
#pragma omp parallel num_threads(3)
    for (int round = 0; round < 60; round++) {
        int size = 1 + (round + omp_get_thread_num()) % 4, count = 0;
#pragma omp parallel num_threads(size)
        {
            INCREMENT(&count);
#pragma omp barrier
            CHECK_EQ(GET(&count), size);
        }
        __atomic_add_fetch(&total, size, __ATOMIC_RELAXED);
    }
    CHECK_EQ(total, 3 * 60 * 5 / 2);
}

int main(void) {
    test_limit(50);
    omp_set_max_active_levels(4);
    for (int outer = 1; outer <= 3; outer++)
        for (int inner = 1; inner <= 4; inner++) real_inner_teams(outer, inner);
    for (int inner = 1; inner <= 3; inner++) independent(inner);
    three_levels();
    after_an_inner_region(1);
    after_an_inner_region(3);
    churn();
    limited_levels();
    return 0;
}
