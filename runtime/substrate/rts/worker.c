/* A worker of the rts substrate: a thread that belongs to one Capability and holds none.
 *
 * In a guest, a worker is a bound Haskell thread that is in one safe foreign call for all its life.
 * So the Capability is free while C runs, and GHC's collector does not wait for the worker.
 *
 * Note [No worker waits for a Capability while a region waits for it]
 * To become a bound thread, a worker must hold the Capability for a moment. If Haskell code has it,
 * the wait can take a time slice or a whole collection. Its holder may be in an unsafe foreign call
 * that opened the very region for which the worker is made: then the wait takes for ever. So a
 * worker attaches at once only if no Haskell code runs, and otherwise runs main unattached. In a
 * Haskell program it enters Haskell only for callbacks. */
#include "substrate/rts/rts.h"

#include "substrate/thread.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <errno.h>
#include <stdlib.h>

/* Room for the 16 KiB of C stack that StgRun keeps below Haskell code, in addition to the user's
 * stack size. */
enum { HASKELL_STACK = 64 * 1024 };

/* The length of the turns on a processor that a worker in a Haskell program requests. */
enum { TURN_NS = 250000 };

/* Called by Haskell, as a safe call: the worker's Capability is released while main runs. */
void cst_rts_worker_enter(struct cst_rts_worker *worker);
/* Haskell's side (Capstan.Internal.Worker): a stable pointer to Ptr a -> IO (). */
HsStablePtr cst_rts_worker_action(void);

static HsStablePtr action;

static _Atomic uint32_t alive; /* workers; a futex for the wait until none is left */

void cst_rts_get_action(void) {
    action = cst_rts_worker_action();
}

void cst_rts_worker_enter(struct cst_rts_worker *worker) {
    worker->main(worker->argument);
}

struct entry {
    int wanted;
    Capability *capability;
};

static void enter(void *argument) {
    struct entry *entry = argument;
    rts_setInCallCapability(entry->wanted, 1);
    entry->capability = rts_lock();
}

bool cst_rts_attach(struct cst_rts_worker *worker) {
    struct entry entry = {.wanted = (int)worker->capability};
    if (!cst_rts_try(enter, &entry)) return false;
    Capability *capability = entry.capability;
    HaskellObj call =
        rts_apply(capability, (HaskellObj)deRefStablePtr(action), rts_mkPtr(capability, worker));
    /* The status is not read: main returns nothing, and while the RTS shuts down GHC ends the
     * Haskell thread in its own way. */
    rts_evalIO(&capability, call, NULL);
    rts_unlock(capability);
    hs_thread_done();
    return true;
}

static void *run(void *argument) {
    struct cst_rts_worker worker = *(struct cst_rts_worker *)argument;
    free(argument);
    cst_rts_learn_task();
    /* With short turns, a woken worker need not wait for the end of a slice of Haskell code. */
#ifndef CST_SHARED_LIBRARY
    cst_thread_ask_turns(TURN_NS);
#endif
    bool failed = worker.attached && !cst_rts_attach(&worker);
    if (failed || !worker.attached) worker.main(worker.argument);
    /* The thread has a Task from a callback. A Task that failed to attach is inconsistent, and
     * stays. */
    if (!failed && cst_rts_task() && cst_rts_state() == CST_RTS_RUNNING) hs_thread_done();
    /* Release: the worker's calls of the RTS; pairs with cst_rts_await_workers. */
    if (cst_sub_acq_rel(&alive, 1) == 1) cst_futex_wake(&alive, 1);
    return NULL;
}

static bool quiet(void) {
    unsigned capabilities = cst_rts_capabilities();
    for (unsigned i = 0; i < capabilities; i++)
        if (cst_rts_haskell_runs(i)) return false;
    return true;
}

int cst_rts_spawn(cst_worker_main *main, void *argument, unsigned index, size_t stack_size,
                  bool apart) {
    int saved = errno;
    struct cst_rts_worker *worker = malloc(sizeof *worker);
    errno = saved;
    if (!worker) return ENOMEM;
    unsigned capabilities = cst_rts_capabilities();
    *worker = (struct cst_rts_worker){
        .main = main,
        .argument = argument,
        .capability = capabilities ? index % capabilities : 0,
        /* See Note [No worker waits for a Capability while a region waits for it]. */
        .attached = cst_rts_is_guest && quiet(),
    };
    cst_add_relaxed(&alive, 1);
    int error = cst_thread_start(run, worker, stack_size, HASKELL_STACK, apart);
    if (error) {
        cst_sub_acq_rel(&alive, 1);
        free(worker);
    }
    return error;
}

void cst_rts_await_workers(void) {
    for (uint32_t left; (left = cst_load_acquire(&alive)) > 0;) cst_futex_wait(&alive, left);
}
