/* The sizes and numbers in the compiler's own <omp.h> are those of runtime/abi/gomp/facts.h. */
#include "testing.h"

#include <omp.h>

#include "../../../runtime/abi/gomp/facts.h"

_Static_assert(sizeof(omp_lock_t) == GOMP_LOCK_SIZE, "omp_lock_t");
_Static_assert(_Alignof(omp_lock_t) == GOMP_LOCK_ALIGNMENT, "omp_lock_t");
_Static_assert(sizeof(omp_nest_lock_t) == GOMP_NEST_LOCK_SIZE, "omp_nest_lock_t");
_Static_assert(_Alignof(omp_nest_lock_t) == GOMP_NEST_LOCK_ALIGNMENT, "omp_nest_lock_t");
_Static_assert(sizeof(omp_depend_t) == GOMP_DEPOBJ_SIZE, "omp_depend_t");
_Static_assert(sizeof(omp_allocator_handle_t) == sizeof(uintptr_t), "handles are addresses");
_Static_assert(sizeof(omp_memspace_handle_t) == sizeof(uintptr_t), "handles are addresses");
_Static_assert(sizeof(omp_event_handle_t) == sizeof(uintptr_t), "handles are addresses");
_Static_assert(sizeof(omp_alloctrait_t) == 2 * sizeof(uintptr_t), "omp_alloctrait_t");
_Static_assert(sizeof(omp_sched_t) == sizeof(int), "enumerations are ints");
_Static_assert(sizeof(omp_proc_bind_t) == sizeof(int), "enumerations are ints");

_Static_assert((int)omp_sched_static == (int)GOMP_SCHEDULE_STATIC, "omp_sched_t");
_Static_assert((int)omp_sched_dynamic == (int)GOMP_SCHEDULE_DYNAMIC, "omp_sched_t");
_Static_assert((int)omp_sched_guided == (int)GOMP_SCHEDULE_GUIDED, "omp_sched_t");
_Static_assert((int)omp_sched_auto == (int)GOMP_SCHEDULE_AUTO, "omp_sched_t");
_Static_assert((unsigned)omp_sched_monotonic == GOMP_SCHEDULE_MONOTONIC, "omp_sched_t");
_Static_assert(omp_proc_bind_primary == 2 && omp_proc_bind_spread == 4, "omp_proc_bind_t");
_Static_assert(omp_default_mem_alloc == 1 && omp_thread_mem_alloc == 8, "allocators");
_Static_assert(omp_default_mem_space == 0 && omp_low_lat_mem_space == 4, "spaces");
_Static_assert(omp_atk_sync_hint == 1 && omp_atk_partition == 8, "traits");
_Static_assert(omp_atv_contended == 3 && omp_atv_interleaved == 18, "values of traits");

/* Locks of the promised sizes lie side by side: a lock must not write into its neighbour. */
int main(void) {
    test_limit(20);
    struct {
        unsigned before;
        omp_lock_t lock;
        unsigned between;
        omp_nest_lock_t nest;
        unsigned after;
    } row = {.before = 0xdeadbeef, .between = 0xcafebabe, .after = 0x600df00d};
    omp_init_lock(&row.lock);
    omp_init_nest_lock(&row.nest);
    omp_set_lock(&row.lock);
    omp_set_nest_lock(&row.nest);
    omp_set_nest_lock(&row.nest);
    CHECK_EQ(omp_test_lock(&row.lock), 0);
    CHECK_EQ(omp_test_nest_lock(&row.nest), 3);
    CHECK(row.before == 0xdeadbeef && row.between == 0xcafebabe && row.after == 0x600df00d);
    for (int i = 0; i < 3; i++) omp_unset_nest_lock(&row.nest);
    omp_unset_lock(&row.lock);
    CHECK_EQ(omp_test_lock(&row.lock), 1);
    CHECK_EQ(omp_test_nest_lock(&row.nest), 1);
    omp_unset_lock(&row.lock);
    omp_unset_nest_lock(&row.nest);
    omp_destroy_lock(&row.lock);
    omp_destroy_nest_lock(&row.nest);
    CHECK(row.before == 0xdeadbeef && row.between == 0xcafebabe && row.after == 0x600df00d);
    return 0;
}
