/* The process's teams: lent to a master for a region, then free for the next master. A team is
 * leased by one compare-and-swap; only making one, or adding a worker, takes a lock.
 *
 * Where dyn-var is true (a Haskell program) the next master may be any thread. Where it is false,
 * OpenMP promises that threadprivate variables keep their values from one region of a thread to the
 * next, so the team of an outermost region is kept for its master until that thread ends. */
#ifndef CST_CORE_POOL_H
#define CST_CORE_POOL_H

#include "core/thread.h"

/* A leased team with as many of `threads` members as could be had; if `at_most`, no more than there
 * are processors that no other region has. The count is in *granted: 1 if there is no team. */
struct cst_team *cst_pool_lease(struct cst_thread *thread, uint32_t threads, bool at_most,
                                uint32_t *granted);
void cst_pool_return(struct cst_team *team);

/* Ends all workers that no master has leased (omp_pause_resource_all). False when some are in
 * use. */
bool cst_pool_release(void);

/* In the child of a fork: no worker is left, start afresh. */
void cst_pool_after_fork(void);

/* The thread ends: the teams kept for it are anybody's. */
void cst_pool_forget(struct cst_thread *thread);

/* Workers ever made, and the largest team, for the report. */
uint32_t cst_pool_workers_made(void);
uint32_t cst_pool_largest_team(void);

#endif
