/* When a coroutine's Capability is released, after a callback in released mode.
 *
 * To release and to take back costs four locked operations, twice what the callback itself costs,
 * and mostly for nobody. So where callbacks come one after another the release is put off: it is
 * due, and the next callback takes the Capability back by a compare-and-swap; each sixteenth time
 * it is released nevertheless. What is due, and not taken back until a watching thread has looked
 * twice, that thread releases. So whoever waits for the Capability waits for sixteen short calls,
 * or for two milliseconds.
 *
 * `due` hands the Capability over. The owner, which is the coroutine's thread, stores
 * CST_RELEASE_IS_DUE (release: with all that the thread in Haskell has been saved in); who swaps it
 * from there, the owner to CST_RELEASE_NOT_DUE (relaxed: it wrote that itself) or a watcher to
 * CST_RELEASE_TAKEN (acquire), has the Capability. A watcher has released it when it stores
 * CST_RELEASE_DONE (release), which the owner awaits (acquire).
 *
 * A watcher that ends clears `watched`, has a barrier on all threads (membarrier(2)) and looks once
 * more. The owner stores CST_RELEASE_IS_DUE, then loads `watched`, without a fence between. If the
 * load came before the barrier, so did the store, and the last look sees it; if after, it sees that
 * nobody watches, and the owner releases by itself.
 *
 * While a release is due, C code may enter Haskell by another way, such as a `wrapper` pointer. GHC
 * would count that call in the Task that holds the Capability, as the call that a watcher then
 * suspends. So the thread has another Task meanwhile: none, for which GHC makes one, or the one
 * that it made before. */
#ifndef CST_SUBSTRATE_RELEASE_H
#define CST_SUBSTRATE_RELEASE_H

#include "platform/atomic.h"
#include "platform/check.h"

#include <stddef.h>

enum { CST_RELEASE_NOT_DUE, CST_RELEASE_IS_DUE, CST_RELEASE_TAKEN, CST_RELEASE_DONE };

/* Known to cmm/coroutine.cmm, up to `spare`. */
struct cst_release {
    _Atomic uint32_t due;
    uint32_t credit;   /* releases that may be put off until one is made */
    void *registers;   /* GHC's name for the Capability while `due` */
    void *task;        /* for its call, once it is released; NULL: it is not */
    void **mine;       /* where GHC has the thread's Task; NULL: not known, and none is put off */
    void *own, *spare; /* while `due` the Task is in `own`, and in its place what was in `spare` */
    /* Callbacks so far: a watcher sees whether they go on. */
    _Atomic uint32_t calls;
    uint32_t seen; /* the watcher's */
    /* The owner's: how many may be put off after each release, and how it learns that. */
    uint32_t allowance;
    uint32_t releases, period; /* since the last look at the clock, and until the next one */
    uint64_t looked;
    struct cst_release *older; /* that was made before; constant */
};

/* Makes the release that was put off, by the thread it falls to. Returns GHC's name for the call.
 */
typedef void *cst_release_function(void *registers);

/* Once for each object, which lasts as long as the process. */
void cst_release_init(struct cst_release *release);
/* Before the first callback of a coroutine, whose releases are all made at once at first. */
void cst_release_begin(struct cst_release *release, void **mine);

/* Until this is called with a function, no release is put off. */
void cst_release_allow(cst_release_function *function);

/* The owner's, when the Capability was released: does `period` end? */
void cst_release_pace(struct cst_release *release);
/* The owner's: makes what was put off, if a watcher has not. */
void cst_release_now(struct cst_release *release);
/* The owner's, when a watcher has taken the Capability: until it is released. */
void cst_release_await(struct cst_release *release);

/* The owner wants the Capability. True: it still had it; false: it was released. */
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

/* The child of a fork has no watcher. Around the fork, and in the child. */
void cst_release_hold(void);
void cst_release_go_on(void);
void cst_release_forget(void);

#pragma GCC visibility push(default) /* called by Haskell */
/* Whether a thread watches. */
extern _Atomic uint32_t cst_release_watched;
/* What was put off while nobody watches, is released by the owner. */
void cst_release_make(struct cst_release *release);
#pragma GCC visibility pop

#endif
