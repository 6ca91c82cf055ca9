/* Internal control variables belong to tasks: the value that a task sets holds for the task itself,
 * and for the regions and tasks that it starts later. No other task sees it.
 *
 * test: not clang clang's optimiser replaces omp_get_max_threads by the value set
 */
#include "testing.h"
#include <omp.h>

/* The values that the tests below set first. */
static void set_values(void) {
    omp_set_num_threads(5);
    omp_set_schedule(omp_sched_guided, 9);
}

static void has_values(void) {
    omp_sched_t kind;
    int chunk;
    CHECK_EQ(omp_get_max_threads(), 5);
    omp_get_schedule(&kind, &chunk);
    CHECK_EQ(kind, omp_sched_guided);
    CHECK_EQ(chunk, 9);
}

static void per_thread(void) {
    set_values();
    omp_set_max_active_levels(4);
#pragma omp parallel num_threads(3)
    {
        int me = omp_get_thread_num();
        omp_sched_t kind;
        int chunk;
        has_values();
        CHECK_EQ(omp_get_max_active_levels(), 4);

        omp_set_num_threads(me + 2);
        omp_set_schedule(me % 2 ? omp_sched_static : omp_sched_dynamic, me + 1);
        omp_set_dynamic(me == 1);
#pragma omp barrier
        CHECK_EQ(omp_get_max_threads(), me + 2);
        omp_get_schedule(&kind, &chunk);
        CHECK_EQ(kind, me % 2 ? omp_sched_static : omp_sched_dynamic);
        CHECK_EQ(chunk, me + 1);
        CHECK_EQ(omp_get_dynamic(), me == 1);
        omp_set_dynamic(0);
        /* The inner team starts from the values of the member that opens it. */
#pragma omp parallel
        {
            CHECK_EQ(omp_get_num_threads(), me + 2);
            omp_sched_t inner;
            int inner_chunk;
            CHECK_EQ(omp_get_max_threads(), me + 2);
            omp_get_schedule(&inner, &inner_chunk);
            CHECK_EQ(inner, kind);
            CHECK_EQ(inner_chunk, chunk);
        }
        CHECK_EQ(omp_get_max_threads(), me + 2);
    }
    /* The values of the members end with the region; the master has its values from before the
     * region. */
    has_values();
    CHECK_EQ(omp_get_dynamic(), 0);
    omp_set_max_active_levels(1);
}

/* A proc_bind clause sets the binding alone. */
static void beside_a_clause(void) {
    set_values();
#pragma omp parallel num_threads(3) proc_bind(close)
    has_values();
}

static void per_task(int size) {
    omp_set_num_threads(5);
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        omp_set_num_threads(7);
        for (int i = 0; i < 10; i++) {
#pragma omp task firstprivate(i)
            {
                CHECK_EQ(omp_get_max_threads(), 7);
                omp_set_num_threads(20 + i);
                sched_yield();
#pragma omp task firstprivate(i)
                {
                    CHECK_EQ(omp_get_max_threads(), 20 + i);
                    omp_set_num_threads(50);
                }
#pragma omp taskwait
                CHECK_EQ(omp_get_max_threads(), 20 + i);
            }
        }
        CHECK_EQ(omp_get_max_threads(), 7);
#pragma omp taskwait
        CHECK_EQ(omp_get_max_threads(), 7);
#pragma omp task if (0)
        {
            CHECK_EQ(omp_get_max_threads(), 7);
            omp_set_num_threads(8);
        }
        CHECK_EQ(omp_get_max_threads(), 7);
    }
    CHECK_EQ(omp_get_max_threads(), 5);
}

/* A task takes the values that hold when it is made. */
static void when_made(void) {
    int seen[2] = {0};
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_set_num_threads(3);
#pragma omp task shared(seen)
        seen[0] = omp_get_max_threads();
        omp_set_num_threads(4);
#pragma omp task shared(seen)
        seen[1] = omp_get_max_threads();
#pragma omp taskwait
    }
    CHECK_EQ(seen[0], 3);
    CHECK_EQ(seen[1], 4);
}

static void set_schedule(void) {
    const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
    for (int k = 0; k < 3; k++)
        for (int monotonic = 0; monotonic < 2; monotonic++) {
            omp_sched_t kind = kinds[k] | (monotonic ? omp_sched_monotonic : 0), found;
            int chunk;
            omp_set_schedule(kind, 11);
            omp_get_schedule(&found, &chunk);
            /* static is monotonic by definition, and GCC's runtime says so */
            if (k == 0)
                CHECK_EQ(found & ~omp_sched_monotonic, omp_sched_static);
            else
                CHECK_EQ(found, kind);
            CHECK_EQ(chunk, 11);
            omp_set_schedule(kind, -3);
            omp_get_schedule(&found, &chunk);
            CHECK(chunk <= 1); /* a size below 1 stands for the default */
        }
}

static void odd_values(void) {
    omp_set_num_threads(3);
    omp_set_num_threads(0);
    CHECK_EQ(omp_get_max_threads(), 1);
    omp_set_num_threads(-4);
    CHECK_EQ(omp_get_max_threads(), 1);
    omp_set_max_active_levels(2);
    omp_set_max_active_levels(-1);
    CHECK_EQ(omp_get_max_active_levels(), 2);
    omp_set_max_active_levels(1000000000);
    CHECK_EQ(omp_get_max_active_levels(), omp_get_supported_active_levels());
    omp_set_max_active_levels(1);
    omp_set_num_teams(3);
    CHECK_EQ(omp_get_max_teams(), 3);
    omp_set_num_teams(0);
    omp_set_teams_thread_limit(4);
    CHECK_EQ(omp_get_teams_thread_limit(), 4);
    omp_set_teams_thread_limit(0);
}

int main(void) {
    test_limit(30);
    per_thread();
    beside_a_clause();
    for (int size = 1; size <= 4; size++) per_task(size);
    when_made();
    set_schedule();
    odd_values();
    return 0;
}
