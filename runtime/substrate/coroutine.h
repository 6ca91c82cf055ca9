/* A Haskell thread beside a C thread: the coroutine that evaluates the C thread's callbacks.
 *
 * Both run on one OS thread, in turns: C on the thread's own stack, Haskell on a side stack. A
 * callback is a switch to the side stack, where a foreign call returns into Haskell; the next
 * foreign call switches back. rts/README.md argues the protocol.
 *
 * A thread's coroutines form a stack of their own: a callback that calls C that calls back needs
 * another one. All fields belong to the OS thread. */
#ifndef CST_SUBSTRATE_COROUTINE_H
#define CST_SUBSTRATE_COROUTINE_H

#include "platform/atomic.h"
#include "platform/check.h"
#include "platform/stack.h"
#include "substrate/release.h"

/* One C function pointer that stands for a Haskell function. Capstan.Internal.Coroutine knows
 * `target`. */
struct cst_callback {
    struct cst_callee callee;
    void *target; /* stable pointer: what Haskell does for a call */
    /* Written by any thread, once: an enum cst_callback_state. */
    _Atomic uint32_t state;
    unsigned forks; /* of the process, when it was made */
    void *thunk;
    const void *maker; /* the thread that made it */
};

enum cst_callback_state {
    CST_CALLBACK_OPEN,
    CST_CALLBACK_FAILED, /* it threw: further calls return zero */
    /* Refused, for this reason: */
    CST_CALLBACK_UNSAFE,       /* the region was entered by an unsafe foreign call */
    CST_CALLBACK_NOT_THREADED, /* on a worker, without -threaded */
    CST_CALLBACK_FORKED,       /* in the child of a fork that did not make it */
    CST_CALLBACK_ENDED,        /* GHC's runtime system ends, or has ended */
    CST_CALLBACK_NO_MEMORY,    /* for a side stack */
    CST_CALLBACK_KILLED        /* the Haskell thread that evaluates callbacks was killed */
};

/* Up to CST_COROUTINE_RELEASED the C thread goes on, and may call. Capstan.Internal.Coroutine and
 * cmm/coroutine.cmm write these as they let C go on. */
enum cst_coroutine_state {
    CST_COROUTINE_KEPT,     /* C goes on and the coroutine's Capability is held all the same */
    CST_COROUTINE_DEFERRED, /* or its release is put off, and may be made by a watcher */
    CST_COROUTINE_RELEASED, /* or it is free */
    CST_COROUTINE_BUSY,     /* Haskell runs, or C that it called */
    CST_COROUTINE_OVER      /* Haskell's side has returned */
};

struct cst_coroutine {
    /* Where the one that does not run goes on: two places for Haskell to switch by (stack.h). */
    struct cst_stack_place haskell, c;
    void *code; /* of Haskell's in released mode, known to cmm/coroutine.cmm: what goes on */
    /* What Haskell is asked for, and how: known to Capstan.Internal.Coroutine. */
    struct cst_callback *callback; /* NULL: to end; or to release its Capability */
    struct cst_call *call;
    bool lasting;                /* more calls may come */
    uint8_t state;               /* enum cst_coroutine_state */
    struct cst_release release;  /* lasts longer; known to cmm/coroutine.cmm */
    int *error;                  /* the thread's errno; to find it takes a call */
    struct cst_coroutine *below; /* the thread's next outer one, in a callback now; or NULL */
    const void *owner;           /* the team in whose region it began and ends */
    void (*give_back)(struct cst_coroutine *coroutine);
    void (*end)(struct cst_coroutine *coroutine);
};

static inline bool cst_coroutine_is_busy(const struct cst_coroutine *coroutine) {
    return coroutine->state > CST_COROUTINE_RELEASED;
}

/* Before Haskell goes on. After a release others may be put off. */
static inline void cst_coroutine_take_back(struct cst_coroutine *coroutine) {
    struct cst_release *release = &coroutine->release;
    if (coroutine->state == CST_COROUTINE_DEFERRED) {
        cst_store_relaxed(&release->calls, cst_load_relaxed(&release->calls) + 1);
        cst_release_take_back(release);
    } else if (coroutine->state == CST_COROUTINE_RELEASED) {
        release->credit = release->allowance;
        if (cst_unlikely(++release->releases == release->period)) cst_release_pace(release);
    }
}

/* Evaluates a callback in a coroutine that is not busy. Blocks until its Capability is free; not
 * if it is kept. Inline, for the registers that the switch does not save its caller then saves
 * once. */
static inline void cst_coroutine_call(struct cst_coroutine *coroutine,
                                      struct cst_callback *callback, struct cst_call *call) {
    cst_coroutine_take_back(coroutine);
    coroutine->callback = callback;
    coroutine->call = call;
    coroutine->state = CST_COROUTINE_BUSY;
    cst_stack_switch(&coroutine->c, &coroutine->haskell);
}

/* Before the thread waits for others. They might wait for the Capability that it keeps: to call
 * back as well, or for a collection. Costs a load when nothing is kept. */
static inline void cst_coroutine_before_wait(struct cst_coroutine *coroutine) {
    if (cst_unlikely(coroutine != NULL) && coroutine->state <= CST_COROUTINE_DEFERRED)
        coroutine->give_back(coroutine);
}

/* Ends the thread's innermost coroutine, which C has come back from. */
static inline void cst_coroutine_end(struct cst_coroutine **top) {
    struct cst_coroutine *coroutine = *top;
    *top = coroutine->below;
    coroutine->end(coroutine);
}

/* --- rts/coroutine.c: only in a Haskell program ------------------------------------------ */

/* Makes a coroutine of the calling thread, which must hold no Capability, puts it in *top and
 * evaluates the callback in it. `lasting`: it may serve more calls; otherwise it is over when this
 * returns. Whoever finds it over, or no longer wants it, restores *top and calls `end`. Costs about
 * as much as a call through a `wrapper` pointer. False: no memory, nothing was called. Blocks until
 * the thread has a Capability. */
bool cst_coroutine_begin(struct cst_coroutine **top, const void *owner, bool lasting,
                         struct cst_callback *callback, struct cst_call *call);

/* Of GHC's runtime system. Does it run? Can it be called from any thread (-threaded)? Does the
 * calling thread hold a Capability? About 1 ns each, the last 5 ns. */
bool cst_coroutine_rts_runs(void);
bool cst_coroutine_any_thread(void);
bool cst_coroutine_holds_capability(void);

/* How many forks this process came out of since cst_coroutine_prepare. */
unsigned cst_coroutine_forks(void);

/* Once, before the first callback. Waits for a thread that holds no Capability. */
void cst_coroutine_prepare(void);

/* Visible: GHC inlines calls of these into programs, which then need them by name. */
#pragma GCC visibility push(default)
/* Size of side stacks made from now on. */
void cst_coroutine_set_stack_size(size_t size);
#pragma GCC visibility pop

#endif
