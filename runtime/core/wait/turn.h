/* Which regions have the processors: how many threads are busy in regions, and, when the machine
 * has too few processors for all masters, whose turn it is. */
#ifndef CST_CORE_WAIT_TURN_H
#define CST_CORE_WAIT_TURN_H

#include "core/state/thread.h"

/* What a region needs before it leases a team. */
struct cst_turn {
    uint32_t threads; /* asked for, to be counted as busy */
    uint32_t least;   /* `at_most`: none rather than fewer than these */
    bool at_most;     /* no more than there are idle processors */
    bool may_wait; /* its master may wait, for some milliseconds, until other regions have ended */
};

/* Who has passed the turn on: the worker's team, to be leased as its workers are awake, and the
 * processor that it was on. NULL: nobody, the thread went ahead by itself. */
struct cst_turn_from {
    struct cst_team *team;
    uint32_t processor;
};

/* Counts the region's threads as busy. Returns how many: all of them, unless `at_most`. May block.
 */
uint32_t cst_turn_take(const struct cst_thread *thread, const struct cst_turn *turn,
                       struct cst_turn_from *from);
/* So many threads are not busy any more. */
void cst_turn_return(uint32_t threads);

/* Masters that wait for their turn. */
extern _Atomic uint32_t cst_turn_waiting;

/* An idle worker looks whether the next master may begin. */
void cst_turn_pass(struct cst_seat *seat);

/* In the child of a fork: nobody is busy, nobody waits. */
void cst_turn_after_fork(void);

#endif
