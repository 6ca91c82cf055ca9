/* The number of threads of a region; see size.h. */
#include "core/team/size.h"

#include "core/base/bounds.h"
#include "core/budget/permit.h"
#include "core/budget/processors.h"
#include "core/host/busy.h"
#include "core/host/host.h"
#include "core/settings/config.h"

/* Takes at most `threads` of the threads that thread-limit-var leaves to the contention group. The
 * caller already counts. */
static uint32_t within_limit(struct cst_team *root, uint32_t threads, uint32_t limit) {
    uint32_t used = cst_load_relaxed(&root->group_threads), granted;
    do {
        uint32_t now = used ? used : 1;
        granted = now >= limit ? 1 : limit - now + 1;
        if (granted > threads) granted = threads;
    } while (!cst_cas_relaxed(&root->group_threads, &used, (used ? used : 1) + granted - 1));
    return granted;
}

/* dyn-var: the number, at most `threads`, that a region should have now. In a Haskell program the
 * idle processors limit a number that the user has not set; in other programs all processors limit
 * it. The child of a Haskell program's fork follows the same rule, although its substrate has no
 * Capabilities. */
static __attribute__((noinline)) uint32_t adjusted(uint32_t threads, bool explicit) {
    uint32_t available = cst_processors();
    if (!cst_host_is_haskell()) return threads < available ? threads : available;
    if (explicit) return threads;
    uint32_t idle = cst_host_idle_capabilities(available), busy = cst_busy_threads();
    if (idle > available) idle = available;
    idle = idle > busy ? idle - busy : 1;
    if (threads > idle) threads = idle;
    return threads > 0 ? threads : 1;
}

bool cst_size_may_shrink(const struct cst_thread *thread, const struct cst_region *region) {
    const struct cst_icv *icv = &thread->task->icv;
    return icv->dynamic == CST_DYNAMIC_ON && !region->threads && !icv->nthreads_explicit;
}

uint32_t cst_size_choose(struct cst_thread *thread, const struct cst_region *region,
                         uint32_t *limited) {
    const struct cst_icv *icv = &thread->task->icv;
    struct cst_team *team = thread->team;
    if (region->threads == 1 || team->active_level >= icv->max_active_levels) return 1;
    uint32_t threads =
        region->threads ? cst_bounds_threads("a num_threads clause", region->threads, icv->nthreads)
                        : icv->nthreads;
    if (cst_unlikely(icv->dynamic == CST_DYNAMIC_ON))
        threads = adjusted(threads, !cst_size_may_shrink(thread, region));
    if (!region->threads && !icv->nthreads_explicit) threads = cst_permit_leave(threads);
    if (cst_unlikely(icv->thread_limit != UINT32_MAX) && threads > 1)
        *limited = threads = within_limit(team->root, threads, icv->thread_limit);
    return threads;
}
