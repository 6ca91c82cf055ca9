/* Small collections beside regions.
 *
 * For each collection, GHC wakes a thread for every Capability, also for unused ones, and waits for
 * these threads. While regions compute, they are queued behind the regions' threads, for up to a
 * slice of the kernel, in which no Haskell code runs. The kernel also moves the waiting thread to a
 * processor of the region. The woken threads would find no work: if only one Capability runs
 * Haskell, all young objects are its own. So meanwhile, a thread that asks for a collection of the
 * youngest generation, or of a small heap, does it alone, as with +RTS -qg1.
 *
 * GHC reads this setting whenever a collection begins. The runtime changes it at the end of each
 * collection, in the hook that GHC has for programs (RtsConfig). So it is reset soon after the last
 * region.
 *
 * As this file knows the number of threads in regions, it also tells scouts of tasks whether
 * regions need their processors. */
#include "substrate/rts/rts.h"

#if defined(__GLASGOW_HASKELL__) && !defined(CST_SHARED_LIBRARY)
#include "platform/atomic.h"
#include "platform/platform.h"

#include <pthread.h>

/* Null if the runtime system is a shared library, which hides it. */
extern RtsConfig rtsConfig __attribute__((weak));

enum {
    LATELY_NS = 100000000, /* time for many collections and regions */
    SMALL_BYTES = 2 << 20  /* collected in about the time of a thread's wake-up */
};

static _Atomic bool noted;             /* a region has begun since the last collection */
static unsigned (*_Atomic busy)(void); /* threads in regions; NULL: not known */

/* For the hook alone: collections come one after the other. */
static struct {
    void (*next)(const struct GCDetails_ *); /* the program's own hook */
    uint64_t seen;                           /* clock as `noted` was last found set */
    bool changes;                            /* may it change GHC's setting? */
} collector;

/* With large nurseries, GHC also balances collections of the youngest generation: then all threads
 * have work. With one generation, each collection is of the whole heap. */
static bool may_change(void) {
    return cst_rts_queued_offset && RtsFlags.ParFlags.parGcEnabled &&
           RtsFlags.ParFlags.parGcGen == 0 && RtsFlags.GcFlags.generations > 1 &&
           !(RtsFlags.ParFlags.parGcLoadBalancingEnabled &&
             RtsFlags.ParFlags.parGcLoadBalancingGen == 0);
}

/* The youngest generation that several threads shall collect. */
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
    /* GHC reads the setting once for each collection, so no collection mixes two values. */
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
    /* Release: a collection that is about to end finds `next` set. */
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
    cst_rts_note_collection(); /* for a collection that began before */
}

HsBool cst_rts_regions_need_all(void) {
    unsigned (*computing)(void) = cst_load_relaxed(&busy);
    unsigned threads = computing ? computing() : 0;
    return threads > 0 && threads >= cst_rts_idle_capabilities();
}
#pragma GCC visibility pop

void cst_rts_note_region(void) {
    if (cst_load_relaxed(&noted)) return;
    cst_store_relaxed(&noted, true);
    hook_once();
}

#else

/* In a guest, GHC's runtime system has nothing to collect. */
void cst_rts_collect_beside(unsigned (*threads_in_regions)(void)) {
    (void)threads_in_regions;
}

#endif
