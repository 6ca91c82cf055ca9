/* A task's life: made, deferred or run at once, completed, waited for. */
#ifndef CST_CORE_TASK_TASK_H
#define CST_CORE_TASK_TASK_H

#include "core/state/thread.h"

struct cst_depend_list;
struct cst_wait;

/* A task as a front end asks for it. */
struct cst_task_request {
    cst_task_function *function;
    void *data;
    cst_task_copy *copy; /* NULL: memcpy */
    size_t size, alignment;
    const struct cst_depend_list *depend; /* NULL: none */
    /* Not NULL: the task has an event, and this tells the front end so, before data is copied. */
    void (*tell_event)(const struct cst_task_request *request, struct cst_task *event);
    /* Not NULL: is called with the task's data where the task will find it, after `copy`. */
    void (*finish_data)(const struct cst_task_request *request, void *data);
    int32_t priority;
    bool deferrable; /* if clause */
    bool final;
    /* The function is called also where the task is cancelled before it began, for it destroys the
     * data. It has to ask. A task with `copy` is one of these. */
    bool destroys;
};

/* Makes a task: it runs now, or later. */
void cst_task_create(struct cst_thread *thread, const struct cst_task_request *request);

/* The same in two steps, for a front end that fills the data in by itself. The record has room for
 * `size` bytes, at cst_task_data; `data`, `size`, `copy` and `finish_data` of the request are not
 * looked at, so that one request may serve many tasks. Each record must be submitted, by its maker,
 * with the same request or one that adds to it. */
struct cst_task *cst_task_allocate(struct cst_thread *thread,
                                   const struct cst_task_request *request, size_t size);
void cst_task_submit(struct cst_thread *thread, struct cst_task *task,
                     const struct cst_task_request *request);

/* In place of submitting it: the record is given back, and the data are not looked at. */
void cst_task_discard(struct cst_thread *thread, struct cst_task *task);

/* In place of submitting it: the caller executes the task's body itself, between these two. The end
 * waits for the task's event, if it has one. */
void cst_task_begin(struct cst_thread *thread, struct cst_task *task);
void cst_task_end(struct cst_thread *thread, struct cst_task *task);

static inline void *cst_task_data(const struct cst_task *task) {
    return task->data;
}

/* taskwait: until all children of the current task are complete. */
void cst_task_wait_children(struct cst_thread *thread);
/* taskwait with depend: until the named predecessors are complete. */
void cst_task_wait_depend(struct cst_thread *thread, const struct cst_depend_list *depend);

void cst_task_yield(struct cst_thread *thread);

/* omp_fulfill_event; any thread, also one that OpenMP does not know. */
void cst_task_fulfill(struct cst_task *task);

/* Runs one task, for a thread that waits where any task of the team may run (at a barrier, in a
 * dock). False: none found. */
bool cst_task_run_any(struct cst_thread *thread);

/* The same as the help of a wait in a barrier or a dock (wait/wait.h). */
bool cst_task_help(struct cst_thread *thread, const struct cst_wait *wait);

/* Waits until `holds` does, running only progeny of the current task meanwhile: a task that is
 * tied to this thread and suspended permits no other (OpenMP 5.2, section 12.9). */
void cst_task_wait(struct cst_thread *thread, struct cst_wait *wait);

/* A member of a large team goes on that has waited where any task of the team may run. */
void cst_task_stop_helping(struct cst_thread *thread);

/* Makes `task` the implicit task of a member. */
void cst_task_init_implicit(struct cst_task *task, struct cst_team *team, struct cst_seat *seat,
                            struct cst_task *parent, const struct cst_icv *icv);

/* A deferred task may run: into the deque of the calling member, or, from a thread that is no
 * member, into the team's queue. */
void cst_task_ready(struct cst_thread *thread, struct cst_task *task);

#endif
