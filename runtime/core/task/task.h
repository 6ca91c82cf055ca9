/* A task's life: front ends make it, threads run it now or later, complete it, and wait for it. */
#ifndef CST_CORE_TASK_TASK_H
#define CST_CORE_TASK_TASK_H

#include "core/state/thread.h"

struct cst_depend_list;
struct cst_wait;

/* A front end's request for a task. */
struct cst_task_request {
    cst_task_function *function;
    void *data;
    cst_task_copy *copy; /* NULL: memcpy */
    size_t size, alignment;
    const struct cst_depend_list *depend; /* NULL: none */
    /* Not NULL: the task has an event, which this function gives to the front end, before the data
     * are copied. */
    void (*tell_event)(const struct cst_task_request *request, struct cst_task *event);
    /* Not NULL: called after `copy`, with the task's data at their final address. */
    void (*finish_data)(const struct cst_task_request *request, void *data);
    int32_t priority;
    bool deferrable; /* if clause */
    bool final;
    /* The runtime calls the function also if the task is cancelled before it began, as the function
     * destroys the data. The function has to check for that. A task with `copy` is one of these. */
    bool destroys;
};

/* Makes a task, which runs now or later. */
void cst_task_create(struct cst_thread *thread, const struct cst_task_request *request);

/* Make a task in two steps, for a front end that fills the data in by itself. The record has room
 * for `size` bytes, at cst_task_data. The calls ignore `data`, `size`, `copy` and `finish_data` of
 * the request, so one request may serve many tasks. The maker must submit each record, with the
 * same request or one that adds to it. */
struct cst_task *cst_task_allocate(struct cst_thread *thread,
                                   const struct cst_task_request *request, size_t size);
void cst_task_submit(struct cst_thread *thread, struct cst_task *task,
                     const struct cst_task_request *request);

/* Called instead of the submission: gives the record back, and ignores the data. */
void cst_task_discard(struct cst_thread *thread, struct cst_task *task);

/* Called instead of the submission: the caller executes the task's body itself, between these two
 * calls. The second waits for the task's event, if it has one. */
void cst_task_begin(struct cst_thread *thread, struct cst_task *task);
void cst_task_end(struct cst_thread *thread, struct cst_task *task);

static inline void *cst_task_data(const struct cst_task *task) {
    return task->data;
}

/* taskwait: waits until all children of the current task are complete. */
void cst_task_wait_children(struct cst_thread *thread);
/* taskwait with depend: waits until the named predecessors are complete. */
void cst_task_wait_depend(struct cst_thread *thread, const struct cst_depend_list *depend);

void cst_task_yield(struct cst_thread *thread);

/* omp_fulfill_event. Any thread may call it, also one that OpenMP does not know. */
void cst_task_fulfill(struct cst_task *task);

/* Runs one task, for a thread whose wait permits any task of the team (at a barrier, in a dock).
 * False: it has found none. */
bool cst_task_run_any(struct cst_thread *thread);

/* cst_task_run_any as the `help` of a wait in a barrier or a dock (wait/wait.h). */
bool cst_task_help(struct cst_thread *thread, const struct cst_wait *wait);

/* Waits until `holds` returns true, and meanwhile runs only descendants of the current task. A
 * suspended task that is tied to this thread permits no other task (OpenMP 5.2, section 12.9). */
void cst_task_wait(struct cst_thread *thread, struct cst_wait *wait);

/* Called when a member of a large team goes on after a wait that permits any task of the team. */
void cst_task_stop_helping(struct cst_thread *thread);

/* Makes `task` the implicit task of a member. */
void cst_task_init_implicit(struct cst_task *task, struct cst_team *team, struct cst_seat *seat,
                            struct cst_task *parent, const struct cst_icv *icv);

/* Makes a deferred task ready. The caller puts it into its own deque if it is a member, and into
 * the team's queue if not. */
void cst_task_ready(struct cst_thread *thread, struct cst_task *task);

#endif
