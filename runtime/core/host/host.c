/* The choice of the substrate, and the demand of Haskell code; see host.h. */
#include "core/host/host.h"

#include "core/base/message.h"
#include "core/host/busy.h"
#include "core/settings/config.h"
#include "core/state/trace.h"
#include "platform/platform.h"
#include "platform/stack.h"

static struct {
    /* Set under the pool's lock, read by any thread at any time. */
    _Atomic(const struct cst_substrate *) substrate;
    const char *note; /* the reason why the wanted substrate does not serve */
    bool haskell;     /* a Haskell program, with the runtime linked in */
    bool child;       /* a forked child, in which the RTS cannot continue */
} host;

CST_LINE_ALIGNED _Atomic uint32_t cst_busy;
_Atomic uint32_t cst_awake;

_Atomic uint32_t cst_host_forks;
void (*cst_host_notice_fork)(void);
_Atomic(void (*)(void)) cst_host_region_begins;

void cst_host_init(void) {
    host.haskell = cst_rts_is_host();
}

/* --- choosing ---------------------------------------------------------------------------- */

/* A search for GHC's runtime system: the substrate, or the reason why it does not serve. */
struct search {
    const struct cst_substrate *found;
    const char *reason;
};

static unsigned busy(void) {
    return cst_busy_threads();
}

static void start_rts(void *argument) {
    struct search *search = argument;
    uint32_t capabilities =
        cst_config.capabilities ? cst_config.capabilities : cst_config.available;
    const struct cst_substrate *rts = cst_rts_substrate(&search->reason);
    if (rts && rts->start(capabilities, busy, &search->reason) == 0) search->found = rts;
}

/* The thread that opens the first region loads a guest. Its stack may be too small for the dynamic
 * linker, so the search has a stack of its own. It has no thread of its own, since the caller may
 * hold the dynamic linker's lock. */
static void search_rts(struct search *search) {
    enum { STACK_SIZE = 1024 * 1024 };
    if (host.child) {
        search->reason = "a forked child cannot use GHC's runtime system";
    } else if (host.haskell) {
        start_rts(search);
    } else if (cst_confined_now()) {
        search->reason = "the program has had its system calls filtered (seccomp) before its first "
                         "region, and GHC's libraries would have to be opened";
    } else if (!cst_stack_call(STACK_SIZE, start_rts, search)) {
        search->reason = "no memory to start GHC's runtime system (ulimit -v)";
    }
}

static const struct cst_substrate *choose(void) {
    bool wanted = cst_config.substrate == CST_SUBSTRATE_RTS ||
                  (cst_config.substrate == CST_SUBSTRATE_AUTO && host.haskell);
    if (!wanted) return &cst_pthread_substrate;
    struct search search = {NULL, "unknown reason"};
    search_rts(&search);
    if (search.found) return search.found;
    host.note = search.reason;
    if (!host.child && cst_config.substrate == CST_SUBSTRATE_RTS)
        cst_message("CAPSTAN_SUBSTRATE=rts is not available: %s; using pthread", search.reason);
    return &cst_pthread_substrate;
}

const struct cst_substrate *cst_host_substrate(void) {
    const struct cst_substrate *substrate = cst_load_relaxed(&host.substrate);
    if (!substrate) {
        substrate = choose();
        if (substrate->trace) cst_store_relaxed(&cst_trace_to, substrate->trace());
        cst_store_relaxed(&cst_host_region_begins, substrate->region_begins);
        cst_store_release(&host.substrate, substrate); /* pairs with cst_host_substrate_now */
    }
    return substrate;
}

const struct cst_substrate *cst_host_substrate_now(void) {
    return cst_load_acquire(&host.substrate);
}

const char *cst_host_note(void) {
    return host.note;
}

/* --- what Haskell code does --------------------------------------------------------------- */

bool cst_host_is_haskell(void) {
    return host.haskell;
}

/* The substrate, if it has Capabilities. */
static const struct cst_substrate *with_capabilities(void) {
    const struct cst_substrate *substrate = cst_host_substrate_now();
    return substrate && substrate->ghc_version ? substrate : NULL;
}

static const struct cst_substrate *of_haskell_program(void) {
    return host.haskell ? with_capabilities() : NULL;
}

uint32_t cst_host_idle_capabilities(uint32_t otherwise) {
    const struct cst_substrate *substrate = with_capabilities();
    return substrate ? substrate->idle_capabilities() : otherwise;
}

uint32_t cst_host_haskell_taken(void) {
    const struct cst_substrate *substrate = of_haskell_program();
    if (!substrate) return 0;
    uint32_t all = substrate->capabilities(), idle = substrate->idle_capabilities();
    return idle < all ? all - idle : 0;
}

bool cst_host_haskell_runs(void) {
    return cst_host_haskell_taken() > 0;
}

uint32_t cst_host_haskell_going_on(void) {
    const struct cst_substrate *substrate = of_haskell_program();
    return substrate ? substrate->haskell_going_on() : 0;
}

bool cst_host_haskell_fills(void) {
    uint32_t taken = cst_host_haskell_taken();
    return taken > 0 && taken + cst_busy_threads() >= cst_config.available;
}

bool cst_host_holds_capability(void) {
    const struct cst_substrate *substrate = cst_host_substrate_now();
    return substrate && substrate->holds_capability();
}

void cst_host_note_sleep(bool begins) {
    const struct cst_substrate *substrate = cst_host_substrate_now();
    if (substrate && substrate->note_sleep) substrate->note_sleep(begins);
}

/* --- the end of a guest, and forks --------------------------------------------------------- */

/* Called under the pool's lock, without a worker: plain threads serve the regions to come. */
static void leave_guest(void) {
    cst_store_release(&host.substrate, &cst_pthread_substrate);
    cst_store_relaxed(&cst_trace_to, NULL);
}

void cst_host_end_guest(bool (*without_workers)(void (*act)(void))) {
    const struct cst_substrate *substrate = cst_host_substrate_now();
    if (substrate && substrate->end && without_workers(leave_guest)) substrate->end();
}

void cst_host_after_fork_in_child(void) {
    host.child = true;
    cst_store_relaxed(&cst_host_forks, 0);
    cst_store_relaxed(&host.substrate, NULL);
    cst_store_relaxed(&cst_trace_to, NULL);
    cst_store_relaxed(&cst_host_region_begins, NULL);
}
