/* The team's barrier: arrive, complete the tasks, leave.
 *
 * Teams that fit the processors use a dissemination barrier (Hensgen, Finkel and Manber, 1988). In
 * round r, member i signals member i + 2^r and waits for member i - 2^r, modulo the team's size. So
 * two members pay one transfer of a line, not two. A crowded team counts down one word and sleeps
 * or yields, so that each member is scheduled once. */
#ifndef CST_CORE_WORK_BARRIER_H
#define CST_CORE_WORK_BARRIER_H

#include "core/state/thread.h"

/* An explicit barrier, or the barrier at a worksharing construct's end. All tasks of the team are
 * complete when it returns. May block. */
void cst_barrier(struct cst_thread *thread);

/* The two halves of cst_barrier, for a caller that has asked whether a tool listens (trace.h). */
void cst_barrier_untraced(struct cst_thread *thread);
bool cst_barrier_traced(struct cst_thread *thread, bool cancellable);

/* A barrier that ends early if the region is cancelled. True: the region was cancelled. */
bool cst_barrier_cancellable(struct cst_thread *thread);

/* Tells that the central barrier, or a crowded team's region, of that number ends with tasks
 * outstanding. A member that has deferred tasks calls before it is counted. Release pairs with the
 * load below. */
static inline void cst_central_tell_tasks(struct cst_team *team, uint32_t number) {
    cst_store_release(&team->central_tasks, number);
}

/* Asked by a member once all have been counted. There is one word for all barriers, so a late
 * member may find the number of the next barrier instead. The writer of that number has left this
 * barrier, so the tasks of this barrier are complete, and this acquire gives the reader their
 * writes. */
static inline bool cst_central_has_tasks(struct cst_team *team, uint32_t number) {
    return cst_load_acquire(&team->central_tasks) == number;
}

#endif
