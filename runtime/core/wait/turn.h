/* The distribution of processors to regions: the number of threads that are busy in regions, and,
 * if the machine has too few processors for all masters, the turn. */
#ifndef CST_CORE_WAIT_TURN_H
#define CST_CORE_WAIT_TURN_H

#include "core/state/thread.h"
#include "platform/hidden.h"

/* The needs of a region before it leases a team. */
struct cst_turn {
    uint32_t threads; /* the wanted number, to be counted as busy */
    uint32_t least;   /* with `at_most`: fewer than this count as none */
    bool at_most;     /* bounded by the idle processors */
    bool may_wait;    /* the master may wait some milliseconds for other regions */
};

/* The worker that passed the turn on: its team, which is best leased as its workers are awake, and
 * its processor. The team is NULL if the thread went ahead by itself. */
struct cst_turn_from {
    struct cst_team *team;
    uint32_t processor;
};

/* The master announces a region of `threads` threads by a question (announce.h), and waits for its
 * turn if the region would not fit, or another master's region is announced. Before it waits, it
 * passes the turn to the first in line, with `team`, whose workers may be awake; NULL: none. A
 * signal handler may ask, so the call gives up if the line's lock is not free soon. */
void cst_turn_announce(struct cst_thread *thread, uint32_t threads, struct cst_team *team,
                       struct cst_turn_from *from);

/* Counts the region's threads as busy. Returns their number: all of them, unless `at_most`. May
 * block. */
uint32_t cst_turn_take(struct cst_thread *thread, const struct cst_turn *turn,
                       struct cst_turn_from *from);
/* Counts `threads` threads as no longer busy. */
void cst_turn_return(uint32_t threads);

/* A region ends that began while masters waited: thread->turn_begun is not 0. It has had so many
 * steps, its barriers and its join. */
void cst_turn_note_region(struct cst_thread *thread, uint32_t steps);

/* Masters that wait for their turn. */
extern CST_HIDDEN _Atomic uint32_t cst_turn_waiting;

/* An idle worker checks whether the next master may begin, and passes the turn to it. */
void cst_turn_pass(struct cst_seat *seat);

/* In the child of a fork: no thread is busy, and no master waits. */
void cst_turn_after_fork(void);

#endif
