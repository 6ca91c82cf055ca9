/* The choice of new tasks that are deferred for other members; the rest run at once. */
#ifndef CST_CORE_TASK_DEFER_H
#define CST_CORE_TASK_DEFER_H

#include "core/settings/config.h"
#include "core/task/task.h"

/* Shall the task be deferred? False: no other member could take it, or thieves have enough. */
bool cst_defer_wanted(struct cst_thread *thread, const struct cst_task_request *request);

/* Are tasks of a team of one deferred? They are if the order in which they run may matter. */
static inline bool cst_defer_alone(void) {
    return cst_config.max_task_priority != 0;
}

/* Shall the next task be run at once and timed, as a sample of the current task's children? The
 * caller then passes its duration to cst_defer_learn. */
bool cst_defer_is_sample(struct cst_thread *thread);
void cst_defer_learn(struct cst_thread *thread, uint64_t ticks);

/* Are the current task's children known to be too short for a transfer? */
bool cst_defer_is_tiny(struct cst_thread *thread);

#endif
