/* The end of a barrier or region that has tasks: until all of them are complete. */
#ifndef CST_CORE_TASK_QUIESCE_H
#define CST_CORE_TASK_QUIESCE_H

#include "core/state/thread.h"

struct cst_wait;

/* Every member calls it when all have arrived at a barrier and some deferred a task. */
void cst_quiesce(struct cst_thread *thread);

/* The same at a region's end, where the master alone waits. */
void cst_quiesce_region(struct cst_thread *thread);

/* Help of a member that waits there, or of a worker in its dock: runs any task of the team; if
 * there is none, takes part in the search for the end. */
bool cst_quiesce_help(struct cst_thread *thread, const struct cst_wait *wait);

#endif
