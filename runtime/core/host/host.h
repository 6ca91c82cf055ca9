/* The host program of the runtime: which substrate makes its threads, and how many processors its
 * Haskell code wants.
 *
 * The runtime chooses the substrate when it needs the first worker. Until then the questions below
 * have the answers of a program without Haskell. */
#ifndef CST_CORE_HOST_HOST_H
#define CST_CORE_HOST_HOST_H

#include "platform/atomic.h"
#include "platform/hidden.h"
#include "substrate/substrate.h"

/* --- the substrate --------------------------------------------------------------------------- */

/* The substrate, started at the first call; the caller holds the pool's lock. Never NULL. */
const struct cst_substrate *cst_host_substrate(void);

/* The substrate, if one has been chosen; else NULL. */
const struct cst_substrate *cst_host_substrate_now(void);

/* The reason why the wanted substrate is not available; NULL: it is. */
const char *cst_host_note(void);

/* Ends GHC's runtime system if it is a guest, since its threads would keep the process alive.
 * `without_workers` calls its argument if no worker is left, and returns whether it did. From then
 * on, workers are plain threads. */
void cst_host_end_guest(bool (*without_workers)(void (*act)(void)));

/* The substrate's `region_begins`, or NULL. */
extern CST_HIDDEN _Atomic(void (*)(void)) cst_host_region_begins;

/* Tells the substrate that a region begins beside Haskell code (substrate.h, region_begins). Mostly
 * two loads. */
static inline void cst_host_note_region(void) {
    void (*begins)(void) = cst_load_relaxed(&cst_host_region_begins);
    if (begins) begins();
}

/* --- Haskell --------------------------------------------------------------------------------- */

/* Is this a Haskell program into which the runtime is linked? */
bool cst_host_is_haskell(void);

/* Capabilities on which no Haskell code runs; `otherwise` without a substrate that has any. */
uint32_t cst_host_idle_capabilities(uint32_t otherwise);

/* In a Haskell program: does any of its Haskell code run now? Costs a load for each Capability. */
bool cst_host_haskell_runs(void);
/* The number of Haskell threads that run and ran at the last call, by any thread. */
uint32_t cst_host_haskell_going_on(void);

/* In a Haskell program: the Capabilities on which its Haskell code runs now, the caller's own left
 * out. Costs some loads for each Capability. */
uint32_t cst_host_haskell_taken(void);

/* In a Haskell program: does Haskell code want all processors that regions do not have? Costs some
 * loads for each Capability. */
bool cst_host_haskell_fills(void);

/* Does the calling thread hold one of GHC's Capabilities, as in an unsafe foreign call? */
bool cst_host_holds_capability(void);

/* The caller, which holds a Capability, begins or ends to sleep: its Capability counts as idle
 * meanwhile. */
void cst_host_note_sleep(bool begins);

/* --- the process ----------------------------------------------------------------------------- */

/* Called as the library is loaded, before and after the environment has been read. */
void cst_host_init(void);

/* The number of forks under way. While it is not 0, the caller may be in the child: handlers that
 * the host registered before it loaded the library run there before the runtime's handler. */
extern CST_HIDDEN _Atomic uint32_t cst_host_forks;
/* Prepares the runtime for use in such a child. Set when the library is loaded. */
extern CST_HIDDEN void (*cst_host_notice_fork)(void);

/* In the child of a fork GHC's runtime system is gone, and the runtime chooses a substrate
 * again. */
void cst_host_after_fork_in_child(void);

#endif
