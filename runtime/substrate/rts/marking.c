/* The last pause of a concurrent collection.
 *
 * The non-moving collector marks beside the program, and stops all Capabilities when it has marked.
 * But it does not ask them to stop, as other collections do (rts/Schedule.c:
 * stopAllCapabilitiesWith and scheduleDoGC). A Capability that computes stops when its time slice
 * ends, which may be 20 ms later, while the stopped Capabilities wait. So while a collection marks,
 * a watcher checks four times in a millisecond whether a stop is pending, and then ends the slices
 * as GHC's timer does.
 *
 * There is at most one watcher, while a collection marks. `watching` tells whether it exists. The
 * thread that exchanges it to true makes the watcher. The watcher resets it, and then looks for a
 * mark that continues. A collection sets GHC's flag of the mark before it calls this file. Both
 * accesses are sequentially consistent, so one side sees the other, and each mark has a watcher. */
#include "substrate/rts/rts.h"

#if defined(__GLASGOW_HASKELL__) && !defined(CST_SHARED_LIBRARY)
#include "platform/atomic.h"
#include "platform/platform.h"
#include "substrate/rts/watcher.h"

#include <pthread.h>

/* The request for all Capabilities, or NULL. The name is null if the runtime system is a shared
 * library, which hides it. */
extern void *pending_sync __attribute__((weak));

enum { LOOK_NS = 250000 };

static _Atomic bool watching;

/* Held while slices are ended, because hs_exit frees the Capabilities. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool ended;

static void end(void) {
    pthread_mutex_lock(&lock);
    ended = true;
    pthread_mutex_unlock(&lock);
}

static bool marks(void) {
    return cst_load_seq_cst((_Atomic StgWord *)&nonmoving_write_barrier_enabled) != 0;
}

static bool stop_is_pending(void) {
    return cst_load_relaxed((_Atomic(void *) *)&pending_sync) != NULL;
}

/* Ends the slice of the Capability's thread. The thread checks rHpLim at its next allocation, and
 * then the switch flag. By then another thread may run there, whose slice is cut short. */
static void end_slice(Capability *capability) {
    StgRegTable *registers = &((CapabilityPublic *)capability)->r;
    cst_store_relaxed((_Atomic int *)((char *)capability + cst_rts_switch_offset), 1);
    cst_store_release((_Atomic(StgPtr) *)&registers->rHpLim, NULL);
}

static void end_slices(void) {
    unsigned count = cst_load_acquire((_Atomic uint32_t *)&n_capabilities);
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < count && !ended; i++) {
        Capability *capability = cst_rts_capability(i);
        if (capability) end_slice(capability);
    }
    pthread_mutex_unlock(&lock);
}

static void *watch(void *unused) {
    _Atomic uint32_t nobody = 0;
    do {
        while (marks()) {
            cst_futex_wait_for(&nobody, 0, LOOK_NS);
            if (stop_is_pending()) end_slices();
        }
        cst_store_seq_cst(&watching, false);
    } while (marks() && !cst_exchange_seq_cst(&watching, true));
    return unused;
}

/* Called in the child of a fork, which has no watcher: frees the lock, and permits a new
 * watcher. */
static void forget(void) {
    pthread_mutex_unlock(&lock);
    cst_store_relaxed(&watching, false);
}

static void hold(void) {
    pthread_mutex_lock(&lock);
}

static void go_on(void) {
    pthread_mutex_unlock(&lock);
}

static bool may_watch;

static void prepare(void) {
    if (!cst_rts_is_ghcs(&pending_sync)) return;
    cst_rts_observe();
    may_watch = pthread_atfork(hold, go_on, forget) == 0 && cst_rts_at_exit(end);
}

void cst_rts_note_collection(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!marks()) return;
    pthread_once(&once, prepare);
    struct cst_rts_usual usual;
    if (may_watch && !cst_exchange_seq_cst(&watching, true) &&
        cst_rts_watcher_start(watch, &usual) != 0)
        cst_store_seq_cst(&watching, false);
}

#endif
