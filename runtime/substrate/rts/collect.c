/* Small collections beside regions.
 *
 * For each collection GHC wakes a thread for every Capability, also for those that nobody uses, and
 * waits for them. While regions compute, these threads are queued behind the regions' own, for up
 * to a slice of the kernel's, in which no Haskell code runs; and the kernel moves the thread that
 * waits for them to where the region is. They would find nothing to do: the young objects are all
 * of one Capability, if it alone runs Haskell. So meanwhile the thread that asks for a collection
 * of the youngest generation, or of a small heap, does it alone, as with +RTS -qg1.
 *
 * GHC looks at its settings whenever a collection begins. We change that one when another has
 * ended, in the hook that GHC has for programs (RtsConfig), so it is set back soon after the last
 * region. */
#include "substrate/rts/rts.h"

#if defined(__GLASGOW_HASKELL__) && !defined(CST_SHARED_LIBRARY)
#include "platform/atomic.h"
#include "platform/platform.h"

#include <pthread.h>

/* Null where the runtime system is a shared library, which hides it. */
extern RtsConfig rtsConfig __attribute__((weak));

enum {
    LATELY_NS = 100000000, /* many collections and regions */
    SMALL_BYTES = 2 << 20  /* collected in about the time that waking a thread takes */
};

static _Atomic bool noted;             /* a region, since the last collection */
static unsigned (*_Atomic busy)(void); /* threads in regions; NULL: not known */

/* The hook's: collections come one after the other. */
static struct {
    void (*next)(const struct GCDetails_ *); /* the program's own hook */
    uint64_t seen;                           /* the clock when a region had been noted last */
    bool changes;                            /* may it change GHC's setting */
} collector;

/* With large nurseries GHC balances the youngest generation's collections too: then all have work.
 * With one generation each collection is of the whole heap. */
static bool may_change(void) {
    return cst_rts_queued_offset && RtsFlags.ParFlags.parGcEnabled &&
           RtsFlags.ParFlags.parGcGen == 0 && RtsFlags.GcFlags.generations > 1 &&
           !(RtsFlags.ParFlags.parGcLoadBalancingEnabled &&
             RtsFlags.ParFlags.parGcLoadBalancingGen == 0);
}

/* The youngest generation that shall be collected in parallel. */
static uint32_t youngest(const struct GCDetails_ *details, uint64_t now) {
    if (now - collector.seen >= LATELY_NS || cst_rts_wanted_capabilities() > 1) return 0;
    return details->live_bytes < SMALL_BYTES ? RtsFlags.GcFlags.generations : 1;
}

static void choose_threads(const struct GCDetails_ *details) {
    uint64_t now = cst_clock_ns();
    unsigned (*computing)(void) = cst_load_relaxed(&busy);
    if (cst_load_relaxed(&noted) || (computing && computing() > 0)) {
        cst_store_relaxed(&noted, false);
        collector.seen = now;
    }
    /* GHC reads it once for each collection, which is then of the one kind or of the other. */
    cst_store_relaxed((_Atomic uint32_t *)&RtsFlags.ParFlags.parGcGen, youngest(details, now));
}

static void collected(const struct GCDetails_ *details) {
    if (collector.next) collector.next(details);
    if (collector.changes) choose_threads(details);
    cst_rts_note_collection();
}

static void hook(void) {
    if (!&rtsConfig) return;
    collector.changes = may_change();
    if (!collector.changes && !RtsFlags.GcFlags.useNonmoving) return;
    collector.next = rtsConfig.gcDoneHook;
    /* Release: a collection that is about to end finds the program's own. */
    cst_store_release((_Atomic(void *) *)&rtsConfig.gcDoneHook, (void *)collected);
}

static void hook_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, hook);
}

void cst_rts_collect_beside(unsigned (*threads_in_regions)(void)) {
    cst_store_relaxed(&busy, threads_in_regions);
    hook_once();
}

#pragma GCC visibility push(default) /* as in rts.h */
void cst_rts_note_tasks(void) {
    hook_once();
    cst_rts_note_collection(); /* that began before */
}
#pragma GCC visibility pop

void cst_rts_note_region(void) {
    if (cst_load_relaxed(&noted)) return;
    cst_store_relaxed(&noted, true);
    hook_once();
}

#else

/* As a guest GHC's runtime system has nothing to collect. */
void cst_rts_collect_beside(unsigned (*threads_in_regions)(void)) {
    (void)threads_in_regions;
}

#endif
