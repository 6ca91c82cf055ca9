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

#endif
