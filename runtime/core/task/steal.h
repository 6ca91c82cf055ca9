/* The search for a task to run: the member's own task, or a task of another member, stolen from its
 * deque or handed over by it.
 *
 * In a small team, a thief looks at all members. In a large team, it looks only at members whose
 * numbers are a power of two below its own. Now and then it looks at one more member in turn. A
 * member that makes a task hands it to a waiting member whose number is a power of two above its
 * own, if one of these has its box open. */
#ifndef CST_CORE_TASK_STEAL_H
#define CST_CORE_TASK_STEAL_H

#include "core/base/deque.h"
#include "core/state/thread.h"

/* A ready task of the team, for a wait in which any task may run; NULL: none found. */
struct cst_task *cst_steal_any(struct cst_thread *thread);

/* A ready descendant of the thread's current task; NULL: none found. */
struct cst_task *cst_steal_progeny(struct cst_thread *thread);

#endif
