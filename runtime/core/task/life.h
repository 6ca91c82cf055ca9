/* Steps of a task's life, for several files of this room. */
#ifndef CST_CORE_TASK_LIFE_H
#define CST_CORE_TASK_LIFE_H

#include "core/state/thread.h"
#include "core/state/trace.h"
#include "core/task/cancel.h"
#include "platform/happens.h"

#include <stdlib.h>

/* Runs the task, and completes it unless it has to wait for its event. */
void cst_task_run(struct cst_thread *thread, struct cst_task *task);

/* Runs one descendant of the current task, if one is ready. */
void cst_task_run_progeny(struct cst_thread *thread);

/* Completes a deferred task whose body and event are complete. Its memory stays. */
void cst_task_complete(struct cst_thread *thread, struct cst_task *task);

/* Counts completed children, and the completed event. When the task has returned, adds the task's
 * own count. Frees the task if nothing is left, and returns true. Its seat may be asleep for it. */
bool cst_task_free_if_last(struct cst_thread *thread, struct cst_task *task, int32_t change);

static inline void cst_task_free(struct cst_thread *thread, struct cst_task *task) {
    if (cst_unlikely(task->outside != NULL)) free(task->outside);
    cst_slab_free(&thread->slab, task);
}

/* Called when the task has returned, and its event is fulfilled. It is freed now, or with its last
 * child. */
static inline void cst_task_retire(struct cst_thread *thread, struct cst_task *task) {
    int32_t here = task->children_here;
    cst_store_relaxed(&task->seat, NULL);
    if (here == 0)
        cst_task_free(thread, task);
    else
        cst_task_free_if_last(thread, task, here);
}

/* Has the region, or the group, been cancelled, so that the task must not begin? */
static inline bool cst_task_is_discarded(struct cst_thread *thread, struct cst_group *group) {
    return cst_unlikely(cst_region_is_cancelled(thread)) ||
           cst_unlikely(cst_group_is_cancelled(group));
}

/* Calls the task's body, with the events around it. Returns the thread, which is the same. */
static inline struct cst_thread *cst_task_call(struct cst_thread *thread,
                                               cst_task_function *function, void *data) {
    if (cst_likely(!cst_trace_is_on())) {
        function(data);
        return cst_self();
    }
    cst_trace(CST_TRACE_TASK_BEGINS, thread, thread->seat->size);
    function(data);
    thread = cst_self();
    cst_trace(CST_TRACE_TASK_ENDS, thread, thread->seat->size);
    return thread;
}

#endif
