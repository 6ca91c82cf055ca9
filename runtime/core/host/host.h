/* The program that the runtime lives in: which substrate makes its threads, and what its Haskell
 * code wants of the processors.
 *
 * The substrate is chosen when the first worker is wanted. Until then the questions below are
 * answered as for a program without Haskell. */
#ifndef CST_CORE_HOST_HOST_H
#define CST_CORE_HOST_HOST_H

#include "platform/atomic.h"
#include "substrate/substrate.h"

/* --- the substrate --------------------------------------------------------------------------- */

/* The substrate, started at the first call; the caller holds the pool's lock. Never NULL. */
const struct cst_substrate *cst_host_substrate(void);

/* The substrate, if one has been chosen; else NULL. */
const struct cst_substrate *cst_host_substrate_now(void);

/* Why the wanted substrate does not serve; NULL: it does. */
const char *cst_host_note(void);

/* Ends GHC's runtime system if it is a guest, since its threads would keep the process alive.
 * `without_workers` calls its argument if no worker is left, and tells whether it did; plain
 * threads serve from then on. */
void cst_host_end_guest(bool (*without_workers)(void (*act)(void)));

/* To be called, if not NULL, where a region of several threads begins (substrate.h, region_begins).
 */
extern _Atomic(void (*)(void)) cst_host_region_begins;

/* --- Haskell --------------------------------------------------------------------------------- */

/* Is this a Haskell program that has the runtime linked in? */
bool cst_host_is_haskell(void);

/* Capabilities on which no Haskell code runs; `otherwise` without a substrate that has any. */
uint32_t cst_host_idle_capabilities(uint32_t otherwise);

/* In a Haskell program: does any of its Haskell code run now? A load for each Capability. */
bool cst_host_haskell_runs(void);

/* In a Haskell program: does Haskell code want all processors that regions do not have? Some loads
 * for each Capability. */
bool cst_host_haskell_fills(void);

/* Does the calling thread hold one of GHC's Capabilities, as in an unsafe foreign call? */
bool cst_host_holds_capability(void);

/* --- the process ----------------------------------------------------------------------------- */

/* Called as the library is loaded, before and after the environment has been read. */
void cst_host_init(void);

/* Forks that are under way. While there are some, the caller may be in the child: handlers of the
 * host's that were registered before the library was loaded run there before ours. */
extern _Atomic uint32_t cst_host_forks;
/* In such a child, makes the runtime fit for use. Set as the library is loaded. */
extern void (*cst_host_notice_fork)(void);

/* In the child of a fork: GHC's runtime system is gone, and a substrate is to be chosen anew. */
void cst_host_after_fork_in_child(void);

#endif
