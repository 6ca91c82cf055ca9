/* The end of a barrier or region that has tasks: a wait until all tasks are complete. */
#ifndef CST_CORE_TASK_QUIESCE_H
#define CST_CORE_TASK_QUIESCE_H

#include "core/state/thread.h"

struct cst_wait;

/* Every member calls it when all have arrived at a barrier and some member deferred a task. */
void cst_quiesce(struct cst_thread *thread);

/* The same wait at a region's end, which only the master calls. */
void cst_quiesce_region(struct cst_thread *thread);

/* The help of a member that waits there, or of a worker in its dock. It runs any task of the team;
 * if there is none, it takes part in the search for the end. */
bool cst_quiesce_help(struct cst_thread *thread, const struct cst_wait *wait);

#endif
