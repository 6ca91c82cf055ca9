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
    CST_CALLBACK_ENDED,        /* GHC's runtime system has ended */
    CST_CALLBACK_NO_MEMORY,    /* for a side stack */
    CST_CALLBACK_KILLED        /* the Haskell thread that evaluates callbacks was killed */
};

struct cst_coroutine {
    struct cst_coroutine *below; /* the thread's next outer one, in a callback now; or NULL */
    const void *owner;           /* the team in whose region it began and ends */
    bool busy;                   /* Haskell runs, or C that it called; else the C thread below */
    bool kept;                   /* C runs and the coroutine's Capability is held all the same */
    bool over;                   /* Haskell's side has returned */
    void (*give_back)(struct cst_coroutine *coroutine);
    void (*end)(struct cst_coroutine *coroutine);
};

/* Before the thread waits for others. They might wait for the Capability that it keeps: to call
 * back as well, or for a collection. Costs a load when nothing is kept. */
static inline void cst_coroutine_before_wait(struct cst_coroutine *coroutine) {
    if (cst_unlikely(coroutine != NULL) && coroutine->kept) coroutine->give_back(coroutine);
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

/* Evaluates a callback in a coroutine that is not busy. Blocks until its Capability is free; not
 * if it is kept. */
void cst_coroutine_call(struct cst_coroutine *coroutine, struct cst_callback *callback,
                        struct cst_call *call);

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
