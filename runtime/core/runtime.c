/* Start, fork and end of the runtime; see runtime.h. */
#include "core/runtime.h"

#include "core/affinity.h"
#include "core/allocator.h"
#include "core/config.h"
#include "core/pinned.h"
#include "core/pool.h"
#include "core/report.h"
#include "core/thread.h"
#include "core/trace.h"
#include "core/turn.h"
#include "core/wait.h"
#include "platform/platform.h"
#include "substrate/substrate.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    /* Set under the pool's lock, read by the report too. */
    _Atomic(const struct cst_substrate *) substrate;
    const char *note; /* why the wanted substrate does not serve */
    bool hosted;
    bool child; /* of a fork, in which the RTS cannot go on */
} runtime;

bool cst_runtime_is_hosted(void) {
    return runtime.hosted && !runtime.child;
}

_Atomic(cst_trace_function *) cst_trace_to;

static const struct cst_substrate *choose(void) {
    bool wanted = cst_config.substrate == CST_SUBSTRATE_RTS ||
                  (cst_config.substrate == CST_SUBSTRATE_AUTO && runtime.hosted);
    if (!wanted) return &cst_pthread_substrate;
    const char *reason = "a forked child cannot use GHC's runtime system";
    const struct cst_substrate *rts = runtime.child ? NULL : cst_rts_substrate(&reason);
    uint32_t capabilities =
        cst_config.capabilities ? cst_config.capabilities : cst_config.available;
    if (rts && rts->start(capabilities, cst_turn_busy, &reason) == 0) return rts;
    runtime.note = reason;
    if (!runtime.child && cst_config.substrate == CST_SUBSTRATE_RTS)
        fprintf(stderr, "capstan: CAPSTAN_SUBSTRATE=rts cannot be had: %s; using pthread\n",
                reason ? reason : "unknown reason");
    return &cst_pthread_substrate;
}

const struct cst_substrate *cst_runtime_substrate(void) {
    const struct cst_substrate *substrate = cst_load_relaxed(&runtime.substrate);
    if (!substrate) {
        substrate = choose();
        if (substrate->trace) cst_store_relaxed(&cst_trace_to, substrate->trace());
        cst_store_release(&runtime.substrate, substrate);
    }
    return substrate;
}

bool cst_runtime_haskell_runs(void) {
    const struct cst_substrate *substrate = cst_load_acquire(&runtime.substrate);
    return runtime.hosted && substrate && substrate->ghc_version &&
           substrate->idle_capabilities() < substrate->capabilities();
}

bool cst_runtime_holds_capability(void) {
    const struct cst_substrate *substrate = cst_load_acquire(&runtime.substrate);
    return substrate && substrate->holds_capability();
}

/* The child of a Haskell program's fork goes by the same rule, as its settings say of themselves.
 * It has no Capabilities that could be idle: its substrate is another. */
uint32_t cst_runtime_adjust(uint32_t threads, bool explicit) {
    if (!runtime.hosted) return threads < cst_config.available ? threads : cst_config.available;
    if (explicit) return threads;
    const struct cst_substrate *substrate = cst_load_acquire(&runtime.substrate);
    uint32_t idle = cst_config.available;
    if (substrate && substrate->ghc_version) {
        uint32_t capabilities = substrate->idle_capabilities();
        if (capabilities < idle) idle = capabilities;
    }
    uint32_t busy = cst_turn_busy();
    idle = idle > busy ? idle - busy : 1;
    if (threads > idle) threads = idle;
    return threads > 0 ? threads : 1;
}

void cst_runtime_end_if_last(void) {
    enum { LOOKS = 20, BETWEEN_NS = 1000000 }; /* workers that were told to end take a moment */
    const struct cst_substrate *substrate = cst_load_acquire(&runtime.substrate);
    if (!substrate || !substrate->ghc_version || runtime.hosted) return;
    _Atomic uint32_t nobody = 0;
    for (int look = 0; look < LOOKS; look++) {
        /* The caller, the RTS's, and the first thread, which stays in the list. */
        uint32_t known = 1 + substrate->capabilities() + !cst_thread_is_first();
        if (cst_thread_count() <= known) exit(EXIT_SUCCESS);
        cst_futex_wait_for(&nobody, 0, BETWEEN_NS);
    }
}

/* What the child goes on with is whole: nobody else is changing it when the process is copied. */
static void before_fork(void) {
    cst_memory_before_fork();
    cst_pinned_before_fork();
    cst_thread_before_fork();
}

static void after_fork_in_parent(void) {
    cst_thread_after_fork();
    cst_pinned_after_fork();
    cst_memory_after_fork();
}

/* The child of a fork has one thread. What other threads held, it lets go; teams and their workers
 * are made anew at its first region. */
static void after_fork_in_child(void) {
    runtime.child = true;
    cst_store_relaxed(&runtime.substrate, NULL);
    cst_store_relaxed(&cst_trace_to, NULL);
    cst_pool_after_fork();
    cst_thread_after_fork_in_child();
    cst_affinity_after_fork();
    cst_pinned_after_fork_in_child();
    cst_memory_after_fork();
}

__attribute__((constructor)) static void start(void) {
    runtime.hosted = cst_rts_is_host();
    cst_config_read();
    if (runtime.hosted && !cst_config.dynamic_given) cst_config.icv.dynamic = 1;
    cst_wait_init();
    cst_process_barrier_prepare();
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    if (cst_config.display_env != CST_DISPLAY_ENV_NO)
        cst_config_display(cst_config.display_env == CST_DISPLAY_ENV_VERBOSE);
    cst_report_start();
}

__attribute__((destructor)) static void end(void) {
    cst_report_write(cst_load_acquire(&runtime.substrate), runtime.note);
}
