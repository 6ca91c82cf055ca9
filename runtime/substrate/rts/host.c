/* The rts substrate in a Haskell program: the package is linked with the RTS. libgomp.so.1 has
 * loader.c in this place. */
#if defined(__GLASGOW_HASKELL__) && !defined(CST_SHARED_LIBRARY)
#include "substrate/rts/rts.h"

#include <errno.h>

const struct cst_substrate *cst_rts_substrate(const char **reason) {
    (void)reason;
    return &cst_rts_linked_substrate;
}

/* Asked before hs_init too, so it says what is linked, not what runs. */
bool cst_rts_is_host(void) {
    return true;
}

/* When to start the RTS is the program's own affair. */
int cst_rts_begin(unsigned capabilities, const char **reason) {
    (void)capabilities;
    *reason = "GHC's runtime system has not been started";
    return EAGAIN;
}

#endif
