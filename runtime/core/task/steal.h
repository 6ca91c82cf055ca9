/* Finding a task to run: the member's own, or one of another member, taken from its deque or handed
 * over by it.
 *
 * In a small team a thief looks at everybody. In a large one it looks at few, the members whose
 * numbers are a power of two below its own, and at one more in turn now and then; and who makes a
 * task hands it to a member that waits, if one of those a power of two above has its box open. */
#ifndef CST_CORE_TASK_STEAL_H
#define CST_CORE_TASK_STEAL_H

#include "core/base/deque.h"
#include "core/state/thread.h"

/* A ready task that the thread may run where any task of the team may run; NULL: none found. */
struct cst_task *cst_steal_any(struct cst_thread *thread);

/* One that the thread's current task has led to. */
struct cst_task *cst_steal_progeny(struct cst_thread *thread);

/* --- boxes ------------------------------------------------------------------------------ */

/* What the member does next has nothing to do with what it did before. */
void cst_box_begin(struct cst_seat *seat);

/* Gives a new task of the thread's team to a member that waits. False: none near does. */
bool cst_box_hand(struct cst_thread *thread, struct cst_task *task);

/* The member waits and has found nothing to do. */
void cst_box_open(struct cst_seat *seat);

/* The member is about to do something else than wait. False: it has been given a task, which the
 * next cst_box_take returns. */
bool cst_box_close(struct cst_seat *seat);

/* The task that the member has been given, or NULL. */
struct cst_task *cst_box_take(struct cst_seat *seat);

#endif
