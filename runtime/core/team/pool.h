/* The teams of the process. A master leases a team for a region, then the team is free for the next
 * master. One compare-and-swap leases a team; a lock is taken only to make a team or to add a
 * worker.
 *
 * The next master may be any thread, unless dyn-var is false. With dyn-var false, OpenMP promises
 * that threadprivate variables keep their values from one region of a thread to the next. Then the
 * team of an outermost region is kept for its master until that thread ends (icv.h, enum
 * cst_dynamic). */
#ifndef CST_CORE_TEAM_POOL_H
#define CST_CORE_TEAM_POOL_H

#include "core/state/thread.h"
#include "platform/check.h"

/* The bounds of a region's size, besides the number that it asks for. */
enum cst_shrink {
    CST_SHRINK_NEVER,    /* nothing, */
    CST_SHRINK_TO_SHARE, /* the processors that other processes leave (CAPSTAN_SHARE), */
    CST_SHRINK_TO_IDLE   /* and also the processors that no other region uses */
};

/* Leases a team of up to `threads` members: as many as can be made. The size is in *granted: 1 if
 * there is no team. */
struct cst_team *cst_pool_lease(struct cst_thread *thread, uint32_t threads, enum cst_shrink shrink,
                                uint32_t *granted);
void cst_pool_return(struct cst_team *team);

/* In builds with all checks (platform/check.h), the process ends unless the pool is consistent and
 * has the returned team exactly once. Takes the pool's lock. */
#if CST_CHECK_LEVEL >= 2
void cst_pool_validate(const struct cst_team *returned);
#else
static inline void cst_pool_validate(const struct cst_team *returned) {
    (void)returned;
}
#endif

/* --- for teams that idle (workers.h) --------------------------------------------------------- */

/* The thread, outside any region, announces its next region by a question (wait/turn.h). It may
 * wait for its turn: 250 ms while no region begins, 2 s at most. It allocates nothing, and takes
 * the line's lock only if that is soon free. */
void cst_pool_announce(struct cst_thread *thread);

/* All teams ever made, linked by next. */
struct cst_team *cst_pool_teams(void);

/* Leases a team in order to give its workers an order, also if the team is kept for a master. False
 * while a master has it. No region may be opened in it. */
bool cst_pool_lease_idle(struct cst_team *team);
void cst_pool_release_idle(struct cst_team *team);

/* Counts the workers of a team, which the caller has leased, as ended. With `only_surplus` it
 * refuses, and returns false, unless the process has more workers than processors. */
bool cst_pool_count_ended(struct cst_team *team, bool only_surplus);

/* Calls `act` if there is no worker; none is made meanwhile. True: it has called. */
bool cst_pool_without_workers(void (*act)(void));

/* --------------------------------------------------------------------------------------------- */

/* Resets the pool in the child of a fork, where no worker is left. */
void cst_pool_after_fork(void);

/* Lets any master lease the teams that were kept for an ending thread. */
void cst_pool_forget(struct cst_thread *thread);

/* For the report: the number of workers ever made, and the size of the largest team. */
uint32_t cst_pool_workers_made(void);
uint32_t cst_pool_largest_team(void);

#endif
