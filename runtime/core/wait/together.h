/* Members of one team that share processors, beside Haskell code that computes on the others.
 *
 * A team has the size that its program was told (ADR 0013). If Haskell code of the process computes
 * as well, more threads want processors than there are. The kernel then lets a member wait while
 * Haskell code uses up its slice, and the whole region waits for that member. So the team keeps to
 * the processors that Haskell code leaves. Members above their number are placed where the first
 * members run, and the members on one processor yield to each other. Threads keep their masks. */
#ifndef CST_CORE_WAIT_TOGETHER_H
#define CST_CORE_WAIT_TOGETHER_H

#include "core/host/host.h"
#include "core/state/thread.h"

/* A waiting member tells its team if Haskell code wants its processor. Only then does the master
 * look at the Capabilities before a region: to look costs a load for each of them. */
static inline void cst_together_suggest(struct cst_team *team) {
    if (!cst_load_relaxed(&team->together.suggested) && cst_host_haskell_fills())
        cst_store_relaxed(&team->together.suggested, true);
}

uint32_t cst_together_look(struct cst_team *team, uint32_t size);

/* The number of processors that Haskell code leaves to a region of `size` threads, which count as
 * busy. 0: enough for all of them, or the members are not to share processors. */
static inline uint32_t cst_together_processors(struct cst_team *team, uint32_t size) {
    if (cst_likely(!cst_load_relaxed(&team->together.suggested))) return 0;
    return cst_together_look(team, size);
}

void cst_together_measure(struct cst_team *team);

/* The master has done its own part of the region. */
static inline void cst_together_arrive(struct cst_team *team) {
    if (cst_unlikely(cst_load_relaxed(&team->together.suggested))) cst_together_measure(team);
}

/* The processor, plus 1, on which a member has to run; 0: any. */
uint32_t cst_together_place(struct cst_seat *seat);

/* The calling member moves to its place if it has begun the region elsewhere. */
void cst_together_come(struct cst_seat *seat);

/* For the master, after a join for which it has waited. If it runs again long after the last worker
 * has arrived, another thread has run on its processor. Then it moves away. */
void cst_together_joined(struct cst_team *team);

#endif
