/* Questions that announce regions.
 *
 * OpenBLAS asks for the number of threads (omp_get_max_threads), spins until no other thread is
 * inside OpenBLAS, and then opens its region. A master that waited for its turn at the region would
 * hold up all others. A master that spins takes a processor from the region that it waits for. So a
 * master whose regions begin after one question each waits for its turn when it asks (turn.h).
 *
 * All threads learn from the first regions that begin after one question each, since a library's
 * callers behave alike. A thread that asks twice before a region, or asks and opens none, just
 * asks: it announces nothing for a while. */
#ifndef CST_CORE_WAIT_ANNOUNCE_H
#define CST_CORE_WAIT_ANNOUNCE_H

#include "core/state/watch.h"
#include "core/wait/policy.h"
#include "platform/hidden.h"

/* The number of regions so far, of all threads, that began after one question; it stops at
 * CST_ANNOUNCE_LEARNED. */
extern CST_HIDDEN _Atomic uint32_t cst_announce_seen;

/* Each question outside a region. True: it announces a region. */
static inline bool cst_announce_asks(struct cst_asking *asking) {
    if (asking->questions++ != 0 || asking->to_ignore > 0) return false;
    return cst_load_relaxed(&cst_announce_seen) >= CST_ANNOUNCE_LEARNED;
}

/* The slow part of cst_announce_opens. */
void cst_announce_learn(struct cst_asking *asking);

/* Each region outside others. */
static inline void cst_announce_opens(struct cst_asking *asking) {
    if (cst_unlikely(asking->questions != 0)) cst_announce_learn(asking);
}

#endif
