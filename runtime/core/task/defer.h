/* Which new tasks are put out for others, and which run at once. */
#ifndef CST_CORE_TASK_DEFER_H
#define CST_CORE_TASK_DEFER_H

#include "core/settings/config.h"
#include "core/task/task.h"

/* Is the task to be put out? False: nobody could take it, or there is enough to take. */
bool cst_defer_wanted(struct cst_thread *thread, const struct cst_task_request *request);

/* Are tasks of a team of one put out? Only where the order in which they then run may matter. */
static inline bool cst_defer_alone(void) {
    return cst_config.max_task_priority != 0;
}

/* Is the next task to be run at once and timed, as a sample of those that the current task makes?
 * Then cst_defer_learn gets what it took. */
bool cst_defer_is_sample(struct cst_thread *thread);
void cst_defer_learn(struct cst_thread *thread, uint64_t ticks);

/* Are the tasks that the current task makes known to be not worth a transfer? */
bool cst_defer_is_tiny(struct cst_thread *thread);

#endif
