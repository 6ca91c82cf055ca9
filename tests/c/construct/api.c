/* The answers of the omp_* calls outside a region, in a region, and two levels down.
 * test: env OMP_NUM_THREADS=3
 * test: env OMP_NUM_THREADS=3 OMP_THREAD_LIMIT=64
 */
#include "testing.h"
#include <omp.h>
#include <string.h>

static void outside(void) {
    CHECK_EQ(omp_get_thread_num(), 0);
    CHECK_EQ(omp_get_num_threads(), 1);
    CHECK_EQ(omp_get_max_threads(), 3);
    CHECK_EQ(omp_in_parallel(), 0);
    CHECK_EQ(omp_get_level(), 0);
    CHECK_EQ(omp_get_active_level(), 0);
    CHECK_EQ(omp_get_ancestor_thread_num(0), 0);
    CHECK_EQ(omp_get_ancestor_thread_num(-1), -1);
    CHECK_EQ(omp_get_ancestor_thread_num(1), -1);
    CHECK_EQ(omp_get_team_size(0), 1);
    CHECK_EQ(omp_get_team_size(1), -1);
    CHECK_EQ(omp_in_final(), 0);
    CHECK_EQ(omp_get_num_teams(), 1);
    CHECK_EQ(omp_get_team_num(), 0);
    CHECK_EQ(omp_is_initial_device(), 1);
    CHECK_EQ(omp_get_num_devices(), 0);
    CHECK_EQ(omp_get_device_num(), omp_get_initial_device());
    CHECK(omp_get_num_procs() >= 1);
    CHECK(omp_get_supported_active_levels() >= 1);
    const char *limit = getenv("OMP_THREAD_LIMIT");
    if (limit)
        CHECK_EQ(omp_get_thread_limit(), atoi(limit));
    else
        CHECK(omp_get_thread_limit() > 1000000);
}

static void inside(void) {
#pragma omp parallel
    {
        CHECK_EQ(omp_get_num_threads(), 3);
        CHECK_EQ(omp_in_parallel(), 1);
        CHECK_EQ(omp_get_level(), 1);
        CHECK_EQ(omp_get_active_level(), 1);
        CHECK_EQ(omp_get_ancestor_thread_num(0), 0);
        CHECK_EQ(omp_get_ancestor_thread_num(1), omp_get_thread_num());
        CHECK_EQ(omp_get_team_size(1), 3);
        /* The default is one active level, so the inner team has one member. */
#pragma omp parallel
        {
            CHECK_EQ(omp_get_thread_num(), 0);
            CHECK_EQ(omp_get_num_threads(), 1);
            CHECK_EQ(omp_in_parallel(), 1);
            CHECK_EQ(omp_get_level(), 2);
            CHECK_EQ(omp_get_active_level(), 1);
            CHECK_EQ(omp_get_team_size(2), 1);
        }
    }
}

static void time_passes(void) {
    double resolution = omp_get_wtick(), before = omp_get_wtime();
    CHECK(resolution > 0 && resolution <= 0.01);
    pause_ms(20);
    double passed = omp_get_wtime() - before;
    CHECK(passed >= 0.0199 && passed < 20);
#pragma omp parallel
    CHECK(omp_get_wtime() >= before);
}

static void affinity(void) {
    char text[200];
    omp_set_affinity_format("L%L n%n/%N t%{nesting_level} %%");
    size_t length = omp_get_affinity_format(text, sizeof text);
    CHECK_EQ(length, strlen("L%L n%n/%N t%{nesting_level} %%"));
    CHECK(strcmp(text, "L%L n%n/%N t%{nesting_level} %%") == 0);
    /* The format has no %L: its meaning differs between versions of the specification, nesting
     * level or team number. */
    length = omp_capture_affinity(text, sizeof text, "n%n/%N");
    CHECK(length == 4 && strcmp(text, "n0/1") == 0);
    CHECK_EQ(omp_capture_affinity(NULL, 0, "%5n|%0.4n|%.4n"), 15);
    length = omp_capture_affinity(text, 4, "abcdef");
    CHECK(length == 6 && strcmp(text, "abc") == 0);
#pragma omp parallel
    {
        char mine[200], expected[40];
        omp_capture_affinity(mine, sizeof mine, "%{thread_num} of %{num_threads}");
        snprintf(expected, sizeof expected, "%d of 3", omp_get_thread_num());
        CHECK(strcmp(mine, expected) == 0);
    }
}

int main(void) {
    test_limit(30);
    for (int round = 0; round < 3; round++) {
        outside();
        inside();
    }
    time_passes();
    affinity();
    return 0;
}
