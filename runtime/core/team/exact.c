/* A region with all the threads that it asks for, or none: for jobs that spin while they wait for
 * each other, so that each needs a thread at once. OpenMP's limits on a program's own regions do
 * not apply. */
#include "core/settings/icv.h"
#include "core/team/region.h"

static void nothing(void *unused) {
    (void)unused;
}

/* Does the thread keep a team for its outermost regions, as dyn-var false demands? Then it must
 * keep it. */
static bool keeps_a_team(const struct cst_thread *thread) {
    const struct cst_team *team = thread->last_team[0];
    return team && cst_load_relaxed(&team->keeper) == thread;
}

bool cst_region_run_exactly(struct cst_thread *thread, const struct cst_region *region) {
    CST_KEEP_FRAME();
    struct cst_icv *icv = &thread->task->icv, saved = *icv;
    icv->max_active_levels = UINT8_MAX;
    icv->thread_limit = UINT32_MAX;
    if (icv->dynamic == CST_DYNAMIC_ON || !keeps_a_team(thread)) icv->dynamic = CST_DYNAMIC_LEASED;
    struct cst_team *team = cst_region_begin(thread, region);
    bool exact = team->size == region->threads;
    struct cst_region order = *region;
    if (!exact) order.function = nothing;
    cst_region_launch(thread, team, &order);
    order.function(order.data);
    thread = cst_self();
    cst_region_end(thread);
    thread->task->icv = saved;
    return exact;
}
