/* Places and binding: the list of places, the places of the members, and the answers that they get.
 * test: env OMP_PLACES={0},{1} OMP_PROC_BIND=true
 * test: env OMP_PLACES={1},{0} OMP_PROC_BIND=close
 * test: env OMP_PLACES={0}:2 OMP_PROC_BIND=spread,close OMP_MAX_ACTIVE_LEVELS=2
 * test: env OMP_PLACES=threads(2) OMP_PROC_BIND=primary
 * test: env GOMP_CPU_AFFINITY=0-1
 * test: not clang clang 14 does not know proc_bind(primary)
 */
#define _GNU_SOURCE
#include "testing.h"
#include <omp.h>
#include <sched.h>
#include <string.h>

/* Returns the processor of a place. The places have the processors 0 and 1, one each. */
static int processor_of(int place) {
    int id = -1;
    CHECK_EQ(omp_get_place_num_procs(place), 1);
    omp_get_place_proc_ids(place, &id);
    return id;
}

/* Under the policy `true` GCC's runtime reports other places than those to which it binds. */
static int mask_is_only(int processor) {
    cpu_set_t mask;
    CHECK(sched_getaffinity(0, sizeof mask, &mask) == 0);
    return CPU_COUNT(&mask) == 1 &&
           (CPU_ISSET(processor, &mask) || omp_get_proc_bind() == omp_proc_bind_true);
}

static void list(void) {
    CHECK_EQ(omp_get_num_places(), 2);
    int reversed = getenv("OMP_PLACES") && !strncmp(getenv("OMP_PLACES"), "{1}", 3);
    CHECK_EQ(processor_of(0), reversed ? 1 : 0);
    CHECK_EQ(processor_of(1), reversed ? 0 : 1);
    CHECK_EQ(omp_get_place_num_procs(2), 0);
    CHECK_EQ(omp_get_place_num_procs(-1), 0);
    CHECK_EQ(omp_get_partition_num_places(), 2);
    int nums[2] = {-1, -1};
    omp_get_partition_place_nums(nums);
    CHECK(nums[0] == 0 && nums[1] == 1);
}

/* A bound member runs on its place and nowhere else. */
static void members(int size) {
    int place[8], count[2] = {0};
#pragma omp parallel num_threads(size)
    {
        int mine = omp_get_place_num();
        CHECK(mine == 0 || mine == 1);
        CHECK(mask_is_only(processor_of(mine)));
        place[omp_get_thread_num()] = mine;
    }
    for (int i = 0; i < size; i++) count[place[i]]++;
    if (omp_get_proc_bind() == omp_proc_bind_primary)
        CHECK_EQ(count[place[0]], size);
    else
        CHECK(count[0] - count[1] <= 1 && count[1] - count[0] <= 1);
}

/* The clause requests another policy in one region. */
static void by_clause(void) {
    int place[4];
#pragma omp parallel num_threads(4) proc_bind(primary)
    place[omp_get_thread_num()] = omp_get_place_num();
    for (int i = 1; i < 4; i++) CHECK_EQ(place[i], place[0]);
#pragma omp parallel num_threads(2) proc_bind(spread)
    {
        place[omp_get_thread_num()] = omp_get_place_num();
        CHECK_EQ(omp_get_partition_num_places(), 1);
    }
    CHECK(place[0] != place[1]);
#pragma omp parallel num_threads(2) proc_bind(close)
    {
        place[omp_get_thread_num()] = omp_get_place_num();
        CHECK_EQ(omp_get_partition_num_places(), 2);
    }
    CHECK(place[0] != place[1]);
}

static void inner(void) {
    if (omp_get_max_active_levels() < 2) return;
#pragma omp parallel num_threads(2)
    {
        int outer = omp_get_place_num();
#pragma omp parallel num_threads(2)
        CHECK_EQ(omp_get_place_num(), outer); /* spread left one place each */
    }
}

int main(void) {
    test_limit(30);
    cpu_set_t mask;
    sched_getaffinity(0, sizeof mask, &mask);
    /* The library may have bound this thread already, so the test asks for the processors of the
     * machine. */
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) test_skip("needs processors 0 and 1");
    CHECK(omp_get_proc_bind() != omp_proc_bind_false);
    list();
    for (int round = 0; round < 5; round++)
        for (int size = 2; size <= 6; size += 2) members(size);
    by_clause();
    inner();
    return 0;
}
