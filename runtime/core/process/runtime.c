/* Start, fork and end of the runtime; see runtime.h. */
#include "core/process/runtime.h"

#include "core/settings/affinity.h"
#include "core/memory/allocator.h"
#include "core/settings/config.h"
#include "core/memory/pinned.h"
#include "core/team/pool.h"
#include "core/process/report.h"
#include "core/state/thread.h"
#include "core/state/trace.h"
#include "core/wait/turn.h"
#include "core/wait/wait.h"
#include "platform/platform.h"
#include "platform/stack.h"
#include "substrate/substrate.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
    /* Set under the pool's lock, read by the report too. */
    _Atomic(const struct cst_substrate *) substrate;
    const char *note; /* why the wanted substrate does not serve */
    bool hosted;
    bool child; /* of a fork, in which the RTS cannot go on */
    pid_t process;
    bool confined; /* a filter of system calls was there as the library was loaded */
} runtime;

_Atomic uint32_t cst_runtime_forks;
_Atomic(void (*)(void)) cst_runtime_region_begins;

bool cst_runtime_is_hosted(void) {
    return runtime.hosted && !runtime.child;
}

_Atomic(cst_trace_function *) cst_trace_to;

/* A look for GHC's runtime system: what it found, or why it does not serve. */
struct search {
    const struct cst_substrate *found;
    const char *reason;
};

static void start_rts(void *argument) {
    struct search *search = argument;
    uint32_t capabilities =
        cst_config.capabilities ? cst_config.capabilities : cst_config.available;
    const struct cst_substrate *rts = cst_rts_substrate(&search->reason);
    if (rts && rts->start(capabilities, cst_turn_busy, &search->reason) == 0) search->found = rts;
}

/* A guest is loaded by the dynamic linker and started by GHC, on the stack of whoever opens the
 * first region, which may be small. So it has a stack of its own. It has no thread of its own,
 * since the caller may hold the dynamic linker's lock. */
static void search_rts(struct search *search) {
    enum { STACK_SIZE = 1024 * 1024 };
    if (runtime.child) {
        search->reason = "a forked child cannot use GHC's runtime system";
    } else if (runtime.hosted) {
        start_rts(search);
    } else if (!runtime.confined && cst_process_is_confined()) {
        search->reason = "the program has had its system calls filtered (seccomp) before its first "
                         "region, and GHC's libraries would have to be opened";
    } else if (!cst_stack_call(STACK_SIZE, start_rts, search)) {
        search->reason = "no memory to start GHC's runtime system (ulimit -v)";
    }
}

static const struct cst_substrate *choose(void) {
    bool wanted = cst_config.substrate == CST_SUBSTRATE_RTS ||
                  (cst_config.substrate == CST_SUBSTRATE_AUTO && runtime.hosted);
    if (!wanted) return &cst_pthread_substrate;
    struct search search = {NULL, "unknown reason"};
    search_rts(&search);
    if (search.found) return search.found;
    runtime.note = search.reason;
    if (!runtime.child && cst_config.substrate == CST_SUBSTRATE_RTS)
        fprintf(stderr, "capstan: CAPSTAN_SUBSTRATE=rts cannot be had: %s; using pthread\n",
                search.reason);
    return &cst_pthread_substrate;
}

const struct cst_substrate *cst_runtime_substrate(void) {
    const struct cst_substrate *substrate = cst_load_relaxed(&runtime.substrate);
    if (!substrate) {
        substrate = choose();
        if (substrate->trace) cst_store_relaxed(&cst_trace_to, substrate->trace());
        cst_store_relaxed(&cst_runtime_region_begins, substrate->region_begins);
        cst_store_release(&runtime.substrate, substrate);
    }
    return substrate;
}

bool cst_runtime_haskell_runs(void) {
    const struct cst_substrate *substrate = cst_load_acquire(&runtime.substrate);
    return runtime.hosted && substrate && substrate->ghc_version &&
           substrate->idle_capabilities() < substrate->capabilities();
}

bool cst_runtime_haskell_fills(void) {
    if (!runtime.hosted) return false;
    const struct cst_substrate *substrate = cst_load_acquire(&runtime.substrate);
    if (!substrate || !substrate->ghc_version) return false;
    uint32_t taken = substrate->capabilities() - substrate->idle_capabilities();
    return taken + cst_turn_busy() >= cst_config.available;
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

/* With the pool's lock, and no worker: the regions to come are served by plain threads. */
static void leave_guest(void) {
    cst_store_release(&runtime.substrate, &cst_pthread_substrate);
    cst_store_relaxed(&cst_trace_to, NULL);
}

void cst_runtime_end_guest(void) {
    const struct cst_substrate *substrate = cst_load_acquire(&runtime.substrate);
    if (substrate && substrate->end && cst_pool_without_workers(leave_guest)) substrate->end();
}

/* What the child goes on with is whole: nobody else is changing it when the process is copied. */
static void before_fork(void) {
    cst_add_relaxed(&cst_runtime_forks, 1);
    cst_memory_before_fork();
    cst_pinned_before_fork();
    cst_thread_before_fork();
}

static void after_fork_in_parent(void) {
    cst_thread_after_fork();
    cst_pinned_after_fork();
    cst_memory_after_fork();
    cst_sub_acq_rel(&cst_runtime_forks, 1);
}

/* The child of a fork has one thread. What other threads held, it lets go; teams and their workers
 * are made anew at its first region. */
static void after_fork_in_child(void) {
    if (runtime.process == getpid()) return; /* noticed before */
    runtime.process = getpid();
    runtime.child = true;
    cst_store_relaxed(&cst_runtime_forks, 0);
    cst_store_relaxed(&runtime.substrate, NULL);
    cst_store_relaxed(&cst_trace_to, NULL);
    cst_store_relaxed(&cst_runtime_region_begins, NULL);
    cst_pool_after_fork();
    cst_thread_after_fork_in_child();
    cst_affinity_after_fork();
    cst_pinned_after_fork_in_child();
    cst_memory_after_fork();
}

void cst_runtime_notice_fork(void) {
    after_fork_in_child();
}

__attribute__((constructor)) static void start(void) {
    runtime.process = getpid();
    runtime.confined = cst_process_is_confined();
    runtime.hosted = cst_rts_is_host();
    cst_config_read();
    cst_thread_init();
    if (runtime.hosted && !cst_config.dynamic_given) cst_config.icv.dynamic = CST_DYNAMIC_LEASED;
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
