/* Workers of teams that no master has: what they do apart from regions.
 *
 * A worker serves many masters. It takes on the traits of each (platform.h): the signals that it
 * blocks, and its processors. They are the master's as of its first region, which costs nothing in
 * later ones; GCC's runtime gives a worker those of the master that made it. A worker whose last
 * master has ended blocks all signals, so that none is taken from a host that waits for it
 * elsewhere.
 *
 * What cannot be taken on must be the same: a team serves masters of one class (pool.c), which is
 * that of the thread that made its workers. A master of a class of its own, such as one whose
 * system calls are filtered, shares its workers with nobody but them, and they end with it.
 *
 * A worker ends when it has idled for a while (CAPSTAN_IDLE_MS), its team is kept for nobody, and
 * the process has more workers than processors. When the host's first thread has ended, it ends in
 * any case: the process is to end with the host's last thread. */
#ifndef CST_CORE_TEAM_WORKERS_H
#define CST_CORE_TEAM_WORKERS_H

#include "core/state/thread.h"

/* Before a thread's first region: learns what its workers are to have from it. */
void cst_workers_learn_traits(struct cst_thread *master);

/* A master has leased the team: its members are to have the master's traits in the next region. */
void cst_workers_serve(struct cst_thread *master, struct cst_team *team);

/* A member begins a region of a team that has another master than in its last one. */
void cst_workers_adopt(struct cst_seat *seat);

/* The master ends: the workers of its teams block all signals, or end if they can serve no other
 * one. */
void cst_workers_lose_master(struct cst_thread *master);

/* How long a worker is to wait for the next region before it asks to end, in nanoseconds; 0: for
 * ever. */
uint64_t cst_workers_patience(struct cst_team *team);

/* Such a worker asks. True: it has left the team, and must not touch its seat any more. Else
 * *patience is how long it is to wait before it asks again; 0: for ever. It asks again where its
 * team was in use, and where the end of the host's first thread is told by nobody, for then it is
 * to end too. */
bool cst_workers_retire(struct cst_seat *seat, uint64_t *patience);

/* Ends all workers of teams that no master has leased; with `kept`, also those that are kept for a
 * master. False when some are in use. */
bool cst_workers_end(bool kept);

#endif
