/* The process's teams: lent to a master for a region, then free for the next master. A team is
 * leased by one compare-and-swap; only making one, or adding a worker, takes a lock.
 *
 * The next master may be any thread, unless dyn-var is false: then OpenMP promises that
 * threadprivate variables keep their values from one region of a thread to the next, so the team of
 * an outermost region is kept for its master until that thread ends (icv.h, enum cst_dynamic). */
#ifndef CST_CORE_TEAM_POOL_H
#define CST_CORE_TEAM_POOL_H

#include "core/state/thread.h"
#include "platform/check.h"

/* A leased team with as many of `threads` members as could be had; if `at_most`, no more than there
 * are processors that no other region has. The count is in *granted: 1 if there is no team. */
struct cst_team *cst_pool_lease(struct cst_thread *thread, uint32_t threads, bool at_most,
                                uint32_t *granted);
void cst_pool_return(struct cst_team *team);

/* In builds with all checks (platform/check.h): the process ends unless the pool is whole, and has
 * the team that is being returned once. Takes the pool's lock. */
#if CST_CHECK_LEVEL >= 2
void cst_pool_validate(const struct cst_team *returned);
#else
static inline void cst_pool_validate(const struct cst_team *returned) {
    (void)returned;
}
#endif

/* --- for teams that idle (workers.h) --------------------------------------------------------- */

/* All teams ever made, linked by next. */
struct cst_team *cst_pool_teams(void);

/* Leases a team, whomever it is kept for, to tell its workers something; false while a master has
 * it. No region may be opened in it. */
bool cst_pool_lease_idle(struct cst_team *team);
void cst_pool_release_idle(struct cst_team *team);

/* Counts the workers of a team, which the caller has leased, as ended. With `only_surplus` it may
 * refuse: then the process has no more workers than processors. */
bool cst_pool_count_ended(struct cst_team *team, bool only_surplus);

/* Calls `act` if there is no worker; none is made meanwhile. Tells whether it did. */
bool cst_pool_without_workers(void (*act)(void));

/* --------------------------------------------------------------------------------------------- */

/* In the child of a fork: no worker is left, start afresh. */
void cst_pool_after_fork(void);

/* The thread ends: the teams kept for it are anybody's. */
void cst_pool_forget(struct cst_thread *thread);

/* Workers ever made, and the largest team, for the report. */
uint32_t cst_pool_workers_made(void);
uint32_t cst_pool_largest_team(void);

#endif
