/* Workers of teams that no master has leased: their duties between regions.
 *
 * A worker serves many masters. It takes on the traits of each (platform.h): the blocked signals
 * and the processors. They are read at the master's first region, so later regions pay nothing; in
 * GCC's runtime a worker keeps the traits of the master that made it. A worker whose last master
 * has ended blocks all signals, so that it takes none from a host that waits for it elsewhere.
 *
 * Properties that a worker cannot take on must be equal: a team serves masters of one class
 * (pool.c), the class of the thread that made its workers. A master may have a class of its own,
 * for example if its system calls are filtered. Then its workers serve no other master, and end
 * with it.
 *
 * A worker ends when it has idled for a while (CAPSTAN_IDLE_MS), its team is not kept for a master,
 * and the process has more workers than processors. When the host's first thread has ended, an idle
 * worker ends in any case: the process shall end with the host's last thread. */
#ifndef CST_CORE_TEAM_WORKERS_H
#define CST_CORE_TEAM_WORKERS_H

#include "core/state/thread.h"

/* Called before a thread's first region: reads the traits that its workers shall have. */
void cst_workers_learn_traits(struct cst_thread *master);

/* Called when a master has leased the team: its members shall have the master's traits in the next
 * region. */
void cst_workers_serve(struct cst_thread *master, struct cst_team *team);

/* Called by a member at the begin of a region, if the team's traits have changed. */
void cst_workers_adopt(struct cst_seat *seat);

/* Called when a master ends: the workers of its teams block all signals, or end if they can serve
 * no other master. */
void cst_workers_lose_master(struct cst_thread *master);

/* The nanoseconds that a worker waits for the next region before it asks to end; 0: for ever. */
uint64_t cst_workers_patience(struct cst_team *team);

/* Asks whether such a worker may end. True: it has left the team, and must not touch its seat any
 * more. False: *patience is the time to wait before it asks again; 0: for ever. It asks again if
 * its team was in use. It also asks again if no call tells of the end of the host's first thread,
 * at which it shall end too. */
bool cst_workers_retire(struct cst_seat *seat, uint64_t *patience);

/* Ends all workers of teams that no master has leased; with `kept`, also of teams that are kept for
 * a master. False when some teams are in use. */
bool cst_workers_end(bool kept);

#endif
