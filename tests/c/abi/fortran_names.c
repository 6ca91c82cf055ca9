/* Every omp_*_ and omp_*_8_ name takes its arguments by reference, as integers of 4 or 8 bytes, and
 * answers like the C call. The settings make the answers differ from 0.
 * test: env OMP_CANCELLATION=true OMP_MAX_TASK_PRIORITY=9 OMP_PLACES={0},{0} OMP_PROC_BIND=spread
 * OMP_NUM_TEAMS=3 OMP_TEAMS_THREAD_LIMIT=5 OMP_THREAD_LIMIT=77 OMP_DEFAULT_DEVICE=0
 * OMP_MAX_ACTIVE_LEVELS=3
 */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "testing.h"
#include <omp.h>
#include <stdint.h>
#include <string.h>

typedef int32_t integer;
typedef int64_t integer8;

#define GETTER(name)                                                                               \
    integer name##_(void);                                                                         \
    static void same_##name(void) {                                                                \
        CHECK_EQ(name##_(), name());                                                               \
    }

GETTER(omp_get_thread_num)
GETTER(omp_get_num_threads)
GETTER(omp_get_max_threads)
GETTER(omp_get_num_procs)
GETTER(omp_in_parallel)
GETTER(omp_get_dynamic)
GETTER(omp_get_nested)
GETTER(omp_get_thread_limit)
GETTER(omp_get_max_active_levels)
GETTER(omp_get_supported_active_levels)
GETTER(omp_get_level)
GETTER(omp_get_active_level)
GETTER(omp_in_final)
GETTER(omp_get_cancellation)
GETTER(omp_get_proc_bind)
GETTER(omp_get_num_places)
GETTER(omp_get_place_num)
GETTER(omp_get_partition_num_places)
GETTER(omp_get_default_device)
GETTER(omp_get_num_devices)
GETTER(omp_get_num_teams)
GETTER(omp_get_team_num)
GETTER(omp_is_initial_device)
GETTER(omp_get_initial_device)
GETTER(omp_get_device_num)
GETTER(omp_get_max_task_priority)
GETTER(omp_get_max_teams)
GETTER(omp_get_teams_thread_limit)

static void (*const same[])(void) = {
    same_omp_get_thread_num,
    same_omp_get_num_threads,
    same_omp_get_max_threads,
    same_omp_get_num_procs,
    same_omp_in_parallel,
    same_omp_get_dynamic,
    same_omp_get_nested,
    same_omp_get_thread_limit,
    same_omp_get_max_active_levels,
    same_omp_get_supported_active_levels,
    same_omp_get_level,
    same_omp_get_active_level,
    same_omp_in_final,
    same_omp_get_cancellation,
    same_omp_get_proc_bind,
    same_omp_get_num_places,
    same_omp_get_place_num,
    same_omp_get_partition_num_places,
    same_omp_get_default_device,
    same_omp_get_num_devices,
    same_omp_get_num_teams,
    same_omp_get_team_num,
    same_omp_is_initial_device,
    same_omp_get_initial_device,
    same_omp_get_device_num,
    same_omp_get_max_task_priority,
    same_omp_get_max_teams,
    same_omp_get_teams_thread_limit,
};

static void getters(void) {
    for (unsigned i = 0; i < sizeof same / sizeof *same; i++) same[i]();
}

static void getters_in_places(void) {
    omp_set_dynamic(0);
    getters();
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(2)
    {
        getters();
#pragma omp task final(1)
        getters();
    }
#pragma omp teams num_teams(3)
#pragma omp parallel num_threads(2)
    getters();
}

/* Setters of both widths: the C getter sees their value. */
#define SETTER(name)                                                                               \
    void name##_(const integer *);                                                                 \
    void name##_8_(const integer8 *)
SETTER(omp_set_num_threads);
SETTER(omp_set_dynamic);
SETTER(omp_set_nested);
SETTER(omp_set_max_active_levels);
SETTER(omp_set_default_device);
SETTER(omp_set_num_teams);
SETTER(omp_set_teams_thread_limit);

#define BOTH(setter, getter, low, high)                                                            \
    do {                                                                                           \
        integer narrow = (low);                                                                    \
        integer8 wide = (high);                                                                    \
        setter##_(&narrow);                                                                        \
        CHECK_EQ(getter(), low);                                                                   \
        setter##_8_(&wide);                                                                        \
        CHECK_EQ(getter(), high);                                                                  \
    } while (0)

static void setters(void) {
    BOTH(omp_set_num_threads, omp_get_max_threads, 5, 6);
    BOTH(omp_set_dynamic, omp_get_dynamic, 1, 0);
    BOTH(omp_set_dynamic, omp_get_dynamic, 0, 1);
    omp_set_nested(1);
    CHECK(omp_get_nested());
    omp_set_nested(0);
    CHECK(!omp_get_nested());
    BOTH(omp_set_nested, omp_get_nested, 1, 0);
    omp_set_nested(1);
    BOTH(omp_set_nested, omp_get_nested, 0, 1);
    BOTH(omp_set_max_active_levels, omp_get_max_active_levels, 2, 4);
    BOTH(omp_set_default_device, omp_get_default_device, 1, 2);
    BOTH(omp_set_num_teams, omp_get_max_teams, 2, 4);
    BOTH(omp_set_teams_thread_limit, omp_get_teams_thread_limit, 3, 6);
    omp_set_dynamic(0);
    getters();
    omp_set_default_device(0);
}

void omp_set_schedule_(const integer *, const integer *);
void omp_set_schedule_8_(const integer *, const integer8 *);
void omp_get_schedule_(integer *, integer *);
void omp_get_schedule_8_(integer *, integer8 *);

static void schedule(void) {
    integer kind = omp_sched_guided, chunk = 9, found_kind, found;
    integer8 wide = 11, found_wide;
    omp_set_schedule_(&kind, &chunk);
    omp_get_schedule_(&found_kind, &found);
    CHECK(found_kind == kind && found == 9);
    omp_set_schedule_8_(&kind, &wide);
    omp_get_schedule_8_(&found_kind, &found_wide);
    CHECK(found_kind == kind && found_wide == 11);
}

integer omp_get_ancestor_thread_num_(const integer *);
integer omp_get_ancestor_thread_num_8_(const integer8 *);
integer omp_get_team_size_(const integer *);
integer omp_get_team_size_8_(const integer8 *);

static void ancestors(void) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(2)
    for (integer level = -1; level <= 3; level++) {
        integer8 wide = level;
        CHECK_EQ(omp_get_ancestor_thread_num_(&level), omp_get_ancestor_thread_num(level));
        CHECK_EQ(omp_get_ancestor_thread_num_8_(&wide), omp_get_ancestor_thread_num(level));
        CHECK_EQ(omp_get_team_size_(&level), omp_get_team_size(level));
        CHECK_EQ(omp_get_team_size_8_(&wide), omp_get_team_size(level));
    }
}

integer omp_get_place_num_procs_(const integer *);
integer omp_get_place_num_procs_8_(const integer8 *);
void omp_get_place_proc_ids_(const integer *, integer *);
void omp_get_place_proc_ids_8_(const integer8 *, integer8 *);
void omp_get_partition_place_nums_(integer *);
void omp_get_partition_place_nums_8_(integer8 *);

static void places(void) {
    integer place = 1, ids[4] = {-7, -7, -7, -7}, nums[4] = {-7, -7, -7, -7};
    integer8 wide = 1, wide_ids[4] = {-7, -7, -7, -7}, wide_nums[4] = {-7, -7, -7, -7};
    CHECK_EQ(omp_get_num_places(), 2);
    CHECK_EQ(omp_get_place_num_procs_(&place), 1);
    CHECK_EQ(omp_get_place_num_procs_8_(&wide), 1);
    omp_get_place_proc_ids_(&place, ids);
    omp_get_place_proc_ids_8_(&wide, wide_ids);
    CHECK(ids[0] == 0 && ids[1] == -7 && wide_ids[0] == 0 && wide_ids[1] == -7);
    omp_get_partition_place_nums_(nums);
    omp_get_partition_place_nums_8_(wide_nums);
    CHECK(nums[0] == 0 && nums[1] == 1 && nums[2] == -7);
    CHECK(wide_nums[0] == 0 && wide_nums[1] == 1 && wide_nums[2] == -7);
}

void omp_init_lock_(void *);
void omp_destroy_lock_(void *);
void omp_set_lock_(void *);
void omp_unset_lock_(void *);
integer omp_test_lock_(void *);
void omp_init_nest_lock_(void *);
void omp_destroy_nest_lock_(void *);
void omp_set_nest_lock_(void *);
void omp_unset_nest_lock_(void *);
integer omp_test_nest_lock_(void *);

static int inside;

static void pass(void) {
    CHECK_EQ(INCREMENT(&inside), 1);
    sched_yield();
    CHECK_EQ(DECREMENT(&inside), 0);
}

/* The lock kinds of omp_lib: a simple lock is an integer of 4 bytes, and a nestable lock an integer
 * of 8 bytes that points to more. */
static void locks(void) {
    int32_t lock = 0x5a5a5a5a;
    int64_t nest = 0x5a5a5a5a5a5a5a5a;
    omp_init_lock_(&lock);
    omp_init_nest_lock_(&nest);
    CHECK(omp_test_lock_(&lock));
    CHECK(!omp_test_lock_(&lock));
    omp_unset_lock_(&lock);
#pragma omp parallel num_threads(4)
    for (int round = 0; round < 200; round++) {
        omp_set_lock_(&lock);
        pass();
        omp_unset_lock_(&lock);
        omp_set_nest_lock_(&nest);
        CHECK_EQ(omp_test_nest_lock_(&nest), 2);
        omp_unset_nest_lock_(&nest);
#pragma omp critical
        sched_yield();
        omp_unset_nest_lock_(&nest);
    }
    int held = 0, in = 0;
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
            omp_set_nest_lock_(&nest);
            SET(&held, 1);
            pause_ms(10);
            SET(&in, 1);
            omp_unset_nest_lock_(&nest);
        } else {
            AWAIT(&held, 1);
            omp_set_nest_lock_(&nest);
            CHECK_EQ(GET(&in), 1);
            omp_unset_nest_lock_(&nest);
        }
    }
    omp_destroy_lock_(&lock);
    omp_destroy_nest_lock_(&nest);
}

double omp_get_wtime_(void);
double omp_get_wtick_(void);
void omp_set_affinity_format_(const char *, size_t);
integer omp_get_affinity_format_(char *, size_t);
integer omp_capture_affinity_(char *, const char *, size_t, size_t);
void omp_set_default_allocator_(const intptr_t *);
intptr_t omp_get_default_allocator_(void);
intptr_t omp_init_allocator_(const intptr_t *, const integer *, const omp_alloctrait_t *);
intptr_t omp_init_allocator_8_(const intptr_t *, const integer8 *, const omp_alloctrait_t *);
void omp_destroy_allocator_(const intptr_t *);
integer omp_pause_resource_(const integer *, const integer *);
integer omp_pause_resource_all_(const integer *);

/* A string of Fortran has no 0 at its end; blanks fill its rest. */
static void texts(void) {
    char text[12];
    memset(text, 'x', sizeof text);
    omp_set_affinity_format_("%n/%N   ", 8);
    CHECK(omp_get_affinity_format_(text, sizeof text) >= 5);
    CHECK(!memcmp(text, "%n/%N       ", sizeof text));
    memset(text, 'x', sizeof text);
    CHECK_EQ(omp_capture_affinity_(text, "<%n>  ", sizeof text, 6), 5);
    CHECK(!memcmp(text, "<0>         ", sizeof text));
}

static void others(void) {
    double now = omp_get_wtime();
    CHECK(omp_get_wtime_() >= now && omp_get_wtime_() < now + 100);
    CHECK(omp_get_wtick_() == omp_get_wtick());
    intptr_t allocator = omp_large_cap_mem_alloc, space = omp_default_mem_space;
    omp_set_default_allocator_(&allocator);
    CHECK_EQ(omp_get_default_allocator(), omp_large_cap_mem_alloc);
    CHECK_EQ(omp_get_default_allocator_(), omp_large_cap_mem_alloc);
    omp_alloctrait_t traits[1] = {{omp_atk_alignment, 256}};
    integer one = 1;
    integer8 wide_one = 1;
    for (int which = 0; which < 2; which++) {
        allocator = which ? omp_init_allocator_8_(&space, &wide_one, traits)
                          : omp_init_allocator_(&space, &one, traits);
        CHECK(allocator != 0);
        char *memory = omp_alloc(100, (omp_allocator_handle_t)allocator);
        CHECK(memory != NULL && (uintptr_t)memory % 256 == 0);
        omp_free(memory, (omp_allocator_handle_t)allocator);
        omp_destroy_allocator_(&allocator);
    }
    integer soft = omp_pause_soft, host = omp_get_initial_device(), nowhere = host + 5;
    CHECK_EQ(omp_pause_resource_(&soft, &host), 0);
    CHECK_EQ(omp_pause_resource_(&soft, &nowhere), -1);
    CHECK_EQ(omp_pause_resource_all_(&soft), 0);
}

int main(void) {
    test_limit(30);
    getters_in_places();
    setters();
    getters_in_places();
    schedule();
    ancestors();
    places();
    locks();
    texts();
    others();
    return 0;
}
