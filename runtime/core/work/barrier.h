/* The team's barrier: arrive, complete the tasks, leave.
 *
 * Teams that fit the processors use a dissemination barrier (Hensgen, Finkel and Manber, 1988):
 * in round r a member signals the one 2^r seats on and waits for the one 2^r seats back, so two
 * members pay one transfer of a line, not two. A crowded team counts down one word and sleeps
 * or yields, so that each member is scheduled once. */
#ifndef CST_CORE_WORK_BARRIER_H
#define CST_CORE_WORK_BARRIER_H

#include "core/state/thread.h"

/* Explicit barrier, and the one at a worksharing construct's end. All tasks of the team are
 * complete when it returns. May block. */
void cst_barrier(struct cst_thread *thread);

/* The same in two halves, for a caller that has asked whether somebody listens (trace.h). */
void cst_barrier_untraced(struct cst_thread *thread);
bool cst_barrier_traced(struct cst_thread *thread, bool cancellable);

/* The same where a cancelled region may cut it short. True: the region was cancelled. */
bool cst_barrier_cancellable(struct cst_thread *thread);

/* The central barrier, or a crowded team's region, of that number ends with tasks outstanding: told
 * by a member that has deferred some, before it is counted. Release pairs with the look below. */
static inline void cst_central_tell_tasks(struct cst_team *team, uint32_t number) {
    cst_store_release(&team->central_tasks, number);
}

/* Asked by a member once all have been counted. There is one word for all barriers, so a late
 * member may find the number of the next one instead. Who wrote that has left this barrier, so its
 * tasks are complete, and this acquire hands on what they wrote. */
static inline bool cst_central_has_tasks(struct cst_team *team, uint32_t number) {
    return cst_load_acquire(&team->central_tasks) == number;
}

#endif
