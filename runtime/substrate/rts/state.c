/* Has the RTS begun, and has it ended? And calls of it in a Haskell program. */
#include "substrate/rts/rts.h"

#include "platform/atomic.h"

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

#if defined(__GLASGOW_HASKELL__) && !defined(CST_SHARED_LIBRARY)
bool cst_rts_try(void (*function)(void *argument), void *argument) {
    function(argument);
    return true;
}
#endif
