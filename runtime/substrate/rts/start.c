/* The rts substrate's start, which checks the RTS, and its table of calls. */
#include "substrate/rts/rts.h"

#include "ghcversion.h"

#include "platform/atomic.h"

#include <errno.h>

bool cst_rts_is_guest;

/* GHC has no call for this state. The count of Capabilities is set early in hs_init and stays; the
 * program's arguments are set before it and freed at the very end of hs_exit. */
enum cst_rts_state cst_rts_state(void) {
    if (cst_load_relaxed((_Atomic uint32_t *)&enabled_capabilities) == 0)
        return CST_RTS_NOT_STARTED;
    int count = 0;
    char **arguments = NULL;
    getProgArgv(&count, &arguments);
    return arguments ? CST_RTS_RUNNING : CST_RTS_ENDED;
}

static int start(unsigned capabilities, unsigned (*busy)(void), const char **reason) {
    if (!rtsSupportsBoundThreads()) {
        *reason = "the program is not linked with -threaded";
        return ENOTSUP;
    }
    cst_rts_observe();
    switch (cst_rts_state()) {
    case CST_RTS_RUNNING:
        cst_rts_collect_beside(busy);
        return 0;
    case CST_RTS_ENDED:
        *reason = "GHC's runtime system has ended and cannot be started again";
        return ENOTSUP;
    case CST_RTS_NOT_STARTED:
        break;
    }
    return cst_rts_begin(capabilities, reason);
}

const struct cst_substrate cst_rts_linked_substrate = {
    .name = "rts",
    .start = start,
    .spawn = cst_rts_spawn,
    .capabilities = cst_rts_capabilities,
    .haskell_runs = cst_rts_haskell_runs,
    .idle_capabilities = cst_rts_idle_capabilities,
#ifndef CST_SHARED_LIBRARY
    .region_begins = cst_rts_note_region,
#endif
    .holds_capability = cst_rts_holds_capability,
    .trace = cst_rts_trace,
#ifdef CST_SHARED_LIBRARY
    .end = cst_rts_end_guest,
#endif
    .ghc_version = __GLASGOW_HASKELL_FULL_VERSION__,
};
