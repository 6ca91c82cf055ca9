/* The release of a coroutine's Capability after a callback in released mode.
 *
 * To release the Capability and to take it back costs four locked operations: twice the cost of the
 * callback itself, and mostly for no waiting thread. So if callbacks come one after another, the
 * release is deferred. It is then due, and the next callback takes the Capability back by a
 * compare-and-swap. Each sixteenth time the Capability is released nevertheless. If a release is
 * still due when a watcher has looked twice, the watcher makes it. So a thread that waits for the
 * Capability waits for sixteen short calls, or for two milliseconds.
 *
 * `due` hands the Capability over. The owner, which is the coroutine's thread, stores
 * CST_RELEASE_IS_DUE; this is a release of all the saved state of the Haskell thread. The thread
 * that exchanges that value has the Capability. The owner exchanges it for CST_RELEASE_NOT_DUE,
 * relaxed, as it wrote the state itself. A watcher exchanges it for CST_RELEASE_TAKEN, with
 * acquire. A watcher that has released the Capability stores CST_RELEASE_DONE (release), which the
 * owner awaits (acquire).
 *
 * A watcher that ends clears `watched`, executes a barrier on all threads (membarrier(2)), and
 * looks once more. The owner stores CST_RELEASE_IS_DUE, then loads `watched`, without a fence
 * between. If the load came before the barrier, so did the store, and the watcher's last look sees
 * it. If the load came after, it sees that no thread watches, and the owner releases by itself.
 * If the barrier fails, as it does once the program is confined, the watcher sets `watched` again
 * and does not end.
 *
 * While a release is due, C code may enter Haskell by another way, such as a `wrapper` pointer. GHC
 * would count that call in the Task that holds the Capability, and a watcher would then suspend
 * this call. So the thread has another Task meanwhile: NULL at first, for which GHC makes one, and
 * later the Task that GHC made. */
#ifndef CST_SUBSTRATE_RELEASE_H
#define CST_SUBSTRATE_RELEASE_H

#include "platform/atomic.h"
#include "platform/check.h"

#include <stddef.h>

enum { CST_RELEASE_NOT_DUE, CST_RELEASE_IS_DUE, CST_RELEASE_TAKEN, CST_RELEASE_DONE };

/* Known to cmm/coroutine.cmm, up to `spare`. */
struct cst_release {
    _Atomic uint32_t due;
    uint32_t credit;   /* releases that may still be deferred */
    void *registers;   /* GHC's name for the Capability while `due` */
    void *task;        /* for GHC's call, once it is released; NULL: not released */
    void **mine;       /* GHC's place of the thread's Task; NULL: not known, no deferral */
    void *own, *spare; /* while `due`, `own` has the Task, and its place what `spare` had */
    /* The number of callbacks, by which a watcher sees whether they continue. */
    _Atomic uint32_t calls;
    uint32_t seen; /* the watcher's */
    /* For the owner: the number of deferrals after each release, and the state to adapt it. */
    uint32_t allowance;
    uint32_t releases, period; /* since the last reading of the clock, and until the next */
    uint64_t looked;
    struct cst_release *older; /* the one made before; constant */
};

/* Makes a deferred release, on the thread that has taken it. Returns GHC's name for the call. */
typedef void *cst_release_function(void *registers);

/* Called once for each object, which lives as long as the process. */
void cst_release_init(struct cst_release *release);
/* Called before the first callback of a coroutine. At first no release is deferred. */
void cst_release_begin(struct cst_release *release, void **mine);

/* Sets the function for deferred releases. Until then no release is deferred. */
void cst_release_allow(cst_release_function *function);

/* Called by the owner at the end of a `period` of releases: adapts `allowance`. */
void cst_release_pace(struct cst_release *release);
/* Called by the owner: makes a deferred release, unless a watcher has made it. */
void cst_release_now(struct cst_release *release);
/* Called by the owner when a watcher has taken the Capability: waits until it is released. */
void cst_release_await(struct cst_release *release);

/* Called by the owner, which wants the Capability. True: it still had it; false: it was
 * released. */
static inline bool cst_release_take_back(struct cst_release *release) {
    uint32_t due = CST_RELEASE_IS_DUE;
    release->spare = *release->mine;
    *release->mine = release->own;
    if (cst_unlikely(!cst_cas_relaxed(&release->due, &due, CST_RELEASE_NOT_DUE))) {
        cst_release_await(release);
        return false;
    }
    release->task = NULL;
    return true;
}

/* Called before a fork, after it, and in the child, which has no watcher. */
void cst_release_hold(void);
void cst_release_go_on(void);
void cst_release_forget(void);

#pragma GCC visibility push(default) /* called by Haskell */
/* Does a thread watch? */
extern _Atomic uint32_t cst_release_watched;
/* Called by the owner if no thread watches: makes the deferred release. */
void cst_release_make(struct cst_release *release);
#pragma GCC visibility pop

#endif
