/* Questions that announce regions.
 *
 * OpenBLAS asks for the number of threads (omp_get_max_threads), spins until no other thread is
 * inside OpenBLAS, and then opens its region. A master that waited for its turn at the region would
 * hold up all others. A master that spins takes a processor from the region that it waits for. So a
 * master whose question announces a region waits for its turn when it asks (turn.h).
 *
 * The meaning of a question depends on its site: the place in the code that asks. Questions of a
 * site announce regions once a few have each been followed by a region, while no other region was
 * in progress. They no longer do after a question without a region, or after a wait in vain. A wait
 * was in vain if the region then began although the other one went on: no lock keeps them apart.
 * Each time the site needs more regions than before to be believed again.
 */
#ifndef CST_CORE_WAIT_ANNOUNCE_H
#define CST_CORE_WAIT_ANNOUNCE_H

#include "core/state/watch.h"
#include "platform/check.h"
#include "platform/hidden.h"

/* Each question outside a region, with the address that it returns to. True: it announces a region.
 * The call takes no lock. */
CST_HIDDEN bool cst_announce_asks(struct cst_asking *asking, const void *from);

/* Does the last question of the thread still announce a region? */
CST_HIDDEN bool cst_announce_holds(const struct cst_asking *asking);

/* Do the regions of that site come at once? In an unsafe foreign call a question of the call's own
 * is followed at once. A question of Haskell's own is not: its thread may first wait for a
 * collection. */
CST_HIDDEN bool cst_announce_is_prompt(const struct cst_asking *asking);

/* The slow part of cst_announce_opens. */
void cst_announce_learn(struct cst_asking *asking);

/* Each region outside others, before its threads count as busy. */
static inline void cst_announce_opens(struct cst_asking *asking) {
    if (cst_unlikely(asking->asked)) cst_announce_learn(asking);
}

#endif
