/* The number of threads of a region; see size.h. */
#include "core/team/size.h"

#include "core/base/bounds.h"
#include "core/budget/permit.h"
#include "core/budget/processors.h"
#include "core/budget/share.h"
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

/* Has the thread been told the number of the region's threads (size.h)? */
static bool is_promised(const struct cst_thread *thread, const struct cst_region *region) {
    uint32_t told = thread->asking.told;
    if (cst_likely(told == 0) || thread->team->active_level > 0) return false;
    return region->threads <= told;
}

/* dyn-var: the number, at most `threads`, that a region should have now. In a Haskell program the
 * idle processors limit a number that the user has not set; in other programs all processors limit
 * it. The child of a Haskell program's fork follows the same rule, although its substrate has no
 * Capabilities. */
static __attribute__((noinline)) uint32_t
adjusted(const struct cst_thread *thread, const struct cst_region *region, uint32_t threads) {
    if (is_promised(thread, region)) return region->threads ? threads : thread->asking.told;
    uint32_t available = cst_processors();
    if (!cst_host_is_haskell()) return threads < available ? threads : available;
    if (region->threads || thread->task->icv.nthreads_explicit) return threads;
    cst_host_note_region(); /* also if one thread is left, which leases no team */
    uint32_t idle = cst_host_idle_capabilities(available), busy = cst_busy_threads();
    if (idle > available) idle = available;
    idle = idle > busy ? idle - busy : 1;
    if (threads > idle) threads = idle;
    return threads > 0 ? threads : 1;
}

enum cst_shrink cst_size_shrinks_now(const struct cst_thread *thread,
                                     const struct cst_region *region) {
    if (thread->task->icv.nthreads_explicit || is_promised(thread, region)) return CST_SHRINK_NEVER;
    return region->threads ? CST_SHRINK_TO_SHARE : CST_SHRINK_TO_IDLE;
}

uint32_t cst_size_promise(struct cst_thread *thread, bool about) {
    const struct cst_icv *icv = &thread->task->icv;
    if (icv->dynamic != CST_DYNAMIC_ON) return icv->nthreads; /* exact in any case */
    bool shares = about && !icv->nthreads_explicit;
    return thread->asking.told = shares ? cst_share_expect(icv->nthreads) : icv->nthreads;
}

uint32_t cst_size_choose(struct cst_thread *thread, const struct cst_region *region,
                         uint32_t *limited) {
    const struct cst_icv *icv = &thread->task->icv;
    struct cst_team *team = thread->team;
    if (region->threads == 1 || team->active_level >= icv->max_active_levels) return 1;
    uint32_t threads =
        region->threads ? cst_bounds_threads("a num_threads clause", region->threads, icv->nthreads)
                        : icv->nthreads;
    if (cst_unlikely(icv->dynamic == CST_DYNAMIC_ON)) threads = adjusted(thread, region, threads);
    if (!region->threads && !icv->nthreads_explicit) threads = cst_permit_leave(threads);
    if (cst_unlikely(icv->thread_limit != UINT32_MAX) && threads > 1)
        *limited = threads = within_limit(team->root, threads, icv->thread_limit);
    return threads;
}
