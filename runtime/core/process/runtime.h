/* The one root of the process: which substrate serves it, how many processors there are to use,
 * start, fork and end. */
#ifndef CST_CORE_PROCESS_RUNTIME_H
#define CST_CORE_PROCESS_RUNTIME_H

#include "platform/atomic.h"

#include <stdbool.h>
#include <stdint.h>

struct cst_substrate;

/* The substrate, started at the first call; the caller holds the pool's lock. Never NULL. */
const struct cst_substrate *cst_runtime_substrate(void);

/* dyn-var: how many of `threads` a region should have now. In a Haskell program the idle
 * processors bound what the user did not ask for by number; elsewhere all processors do. */
uint32_t cst_runtime_adjust(uint32_t threads, bool explicit);

/* Is this a Haskell program with the runtime linked in? */
bool cst_runtime_is_hosted(void);

/* Does any of its Haskell code run now? A load for each Capability. */
bool cst_runtime_haskell_runs(void);

/* In a Haskell program: does Haskell code want all processors that regions do not have? Some loads
 * for each Capability. */
bool cst_runtime_haskell_fills(void);

/* To be called, if not NULL, where a region of several threads begins (substrate.h, region_begins).
 */
extern _Atomic(void (*)(void)) cst_runtime_region_begins;

/* Does the calling thread hold one of GHC's Capabilities, as in an unsafe foreign call? */
bool cst_runtime_holds_capability(void);

/* Forks that are under way. While there are some, the caller may be in the child: handlers of the
 * host's that were registered before the library was loaded run there before ours. */
extern _Atomic uint32_t cst_runtime_forks;
/* In such a child, makes the runtime fit for use. */
void cst_runtime_notice_fork(void);

/* The host's first thread has ended before the process (pthread_exit in main). GHC's runtime system
 * ends too, if it is a guest and no worker of its is left, since its threads would keep the process
 * alive. */
void cst_runtime_end_guest(void);

#endif
