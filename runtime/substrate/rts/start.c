/* The rts substrate's start, which checks the RTS, and its table of calls. */
#include "substrate/rts/rts.h"

#include "ghcversion.h"

#include <errno.h>

bool cst_rts_is_guest;

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
    .haskell_going_on = cst_rts_haskell_going_on,
#ifndef CST_SHARED_LIBRARY
    .region_begins = cst_rts_note_region,
#endif
    .holds_capability = cst_rts_holds_capability,
    .note_sleep = cst_rts_note_sleep,
    .trace = cst_rts_trace,
#ifdef CST_SHARED_LIBRARY
    .end = cst_rts_end_guest,
#endif
    .ghc_version = __GLASGOW_HASKELL_FULL_VERSION__,
};
