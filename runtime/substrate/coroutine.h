/* A Haskell thread beside a C thread: the coroutine that evaluates the C thread's callbacks.
 *
 * Both run on one OS thread, alternately: C on the thread's own stack, Haskell on a side stack. A
 * callback switches to the side stack, where a foreign call returns into Haskell. The next foreign
 * call switches back. rts/README.md argues the protocol.
 *
 * The coroutines of a thread form a stack: a callback may call C code that makes a callback, which
 * needs a further coroutine. All fields belong to the OS thread. */
#ifndef CST_SUBSTRATE_COROUTINE_H
#define CST_SUBSTRATE_COROUTINE_H

#include "platform/atomic.h"
#include "platform/check.h"
#include "platform/stack.h"
#include "substrate/release.h"

/* A C function pointer that stands for a Haskell function. Capstan.Internal.Coroutine knows
 * `target`. */
struct cst_callback {
    struct cst_callee callee;
    void *target; /* stable pointer to the Haskell action for a call */
    /* enum cst_callback_state. Any thread writes it, once. */
    _Atomic uint32_t state;
    unsigned forks; /* forks of the process, when it was made */
    void *thunk;
    const void *maker; /* the thread that made it */
};

enum cst_callback_state {
    CST_CALLBACK_OPEN,
    CST_CALLBACK_FAILED, /* it threw: further calls return zero */
    /* Refused, for one of these reasons: */
    CST_CALLBACK_UNSAFE,       /* the region was entered by an unsafe foreign call */
    CST_CALLBACK_NOT_THREADED, /* on a worker, without -threaded */
    CST_CALLBACK_FORKED,       /* in the child of a fork that did not make it */
    CST_CALLBACK_ENDED,        /* GHC's runtime system ends, or has ended */
    CST_CALLBACK_NO_MEMORY,    /* for a side stack */
    CST_CALLBACK_KILLED        /* the Haskell thread that evaluates callbacks was killed */
};

/* In the states up to CST_COROUTINE_RELEASED, the C thread runs and may call.
 * Capstan.Internal.Coroutine and cmm/coroutine.cmm write these states before they switch to C. */
enum cst_coroutine_state {
    CST_COROUTINE_KEPT,     /* C runs, and the coroutine keeps its Capability */
    CST_COROUTINE_DEFERRED, /* C runs; the release is deferred, and a watcher may make it */
    CST_COROUTINE_RELEASED, /* C runs, and the Capability is released */
    CST_COROUTINE_BUSY,     /* Haskell runs, or C code that it called */
    CST_COROUTINE_OVER      /* Haskell's side has returned */
};

struct cst_coroutine {
    /* Where the suspended side continues: two places by which Haskell switches (stack.h). */
    struct cst_stack_place haskell, c;
    void *code; /* Haskell's continuation in released mode, known to cmm/coroutine.cmm */
    /* The request to Haskell, known to Capstan.Internal.Coroutine. */
    struct cst_callback *callback; /* NULL: end, or release the Capability */
    struct cst_call *call;
    bool lasting;                /* more calls may come */
    uint8_t state;               /* enum cst_coroutine_state */
    struct cst_release release;  /* outlives the coroutine; known to cmm/coroutine.cmm */
    int *error;                  /* the address of the thread's errno, found by a call */
    struct cst_coroutine *below; /* the thread's next outer coroutine, in a callback; or NULL */
    const void *owner;           /* the team in whose region it begins and ends */
    void (*give_back)(struct cst_coroutine *coroutine);
    void (*end)(struct cst_coroutine *coroutine);
};

static inline bool cst_coroutine_is_busy(const struct cst_coroutine *coroutine) {
    return coroutine->state > CST_COROUTINE_RELEASED;
}

/* Takes the Capability back before Haskell continues. After a release, further releases may be
 * deferred. */
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

/* Evaluates a callback in a coroutine that is not busy. Blocks until the Capability is free, unless
 * it is kept. Inline: the caller then saves the registers that the switch does not save only
 * once. */
static inline void cst_coroutine_call(struct cst_coroutine *coroutine,
                                      struct cst_callback *callback, struct cst_call *call) {
    cst_coroutine_take_back(coroutine);
    coroutine->callback = callback;
    coroutine->call = call;
    coroutine->state = CST_COROUTINE_BUSY;
    cst_stack_switch(&coroutine->c, &coroutine->haskell);
}

/* Called before the thread waits for other threads. They might need the Capability that it keeps,
 * for their own callbacks or for a collection. Costs a load if none is kept. */
static inline void cst_coroutine_before_wait(struct cst_coroutine *coroutine) {
    if (cst_unlikely(coroutine != NULL) && coroutine->state <= CST_COROUTINE_DEFERRED)
        coroutine->give_back(coroutine);
}

/* Ends the thread's innermost coroutine, from which C has returned. */
static inline void cst_coroutine_end(struct cst_coroutine **top) {
    struct cst_coroutine *coroutine = *top;
    *top = coroutine->below;
    coroutine->end(coroutine);
}

/* --- rts/coroutine.c: only in a Haskell program ------------------------------------------ */

/* Makes a coroutine of the calling thread, which must hold no Capability, puts it in *top and
 * evaluates the callback in it. `lasting`: it may serve more calls; otherwise it is over when this
 * function returns. A caller that finds it over, or does not need it any more, calls
 * cst_coroutine_end. Costs about as much as a call through a `wrapper` pointer. False: no memory,
 * and the callback was not called. Blocks until the thread has a Capability. */
bool cst_coroutine_begin(struct cst_coroutine **top, const void *owner, bool lasting,
                         struct cst_callback *callback, struct cst_call *call);

/* Questions about GHC's runtime system. Does it run? Can any thread call it (-threaded)? Does the
 * calling thread hold a Capability? They cost about 1 ns each, the last 5 ns. */
bool cst_coroutine_rts_runs(void);
bool cst_coroutine_any_thread(void);
bool cst_coroutine_holds_capability(void);

/* The number of forks since cst_coroutine_prepare of which this process is the child. */
unsigned cst_coroutine_forks(void);

/* Called once, before the first callback. Waits for a thread that holds no Capability. */
void cst_coroutine_prepare(void);

/* Visible: GHC inlines calls of this function into programs, which then need the name. */
#pragma GCC visibility push(default)
/* Size of side stacks made from now on. */
void cst_coroutine_set_stack_size(size_t size);
#pragma GCC visibility pop

#endif
