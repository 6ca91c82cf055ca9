/* The pauses between two polls of a patient wait (wait.h).
 *
 * The thread that has the turn also writes data that the next one needs. Each poll takes the turn's
 * line from it, so polls must be rare; but a turn is seen late if they are too rare. The best
 * distance of polls grows with the time in which a line comes from another processor: 30 ns between
 * neighbours, 300 ns between sockets. So some waits are timed. The poll that sees the turn has just
 * fetched the line. The waiter then pauses as long: the thread that has the turn needs that time to
 * take the line back. */
#ifndef CST_CORE_WAIT_PATIENCE_H
#define CST_CORE_WAIT_PATIENCE_H

#include "core/state/watch.h"
#include "core/wait/policy.h"

/* The number of pauses, from 1 to that of the policy, which holds until a fetch has been timed. */
static inline uint32_t cst_patience_pauses(const struct cst_patience *patience) {
    return patience->pauses ? patience->pauses : cst_policy.patient_pauses;
}

/* Is the wait that begins now to be timed? The first waits of a thread are, and then one of 256. */
static inline bool cst_patience_is_due(struct cst_patience *patience) {
    enum { FIRST = 16, EACH = 256 };
    if (cst_policy.patient_pauses == 1) return false;
    uint32_t wait = patience->waits++;
    return wait < FIRST || wait % EACH == 0;
}

/* A poll that fetched the line took `fetch` ticks, and a pause before it `pause` ticks. */
void cst_patience_learn(struct cst_patience *patience, uint64_t pause, uint64_t fetch);

#endif
