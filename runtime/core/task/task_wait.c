/* Waits for tasks within a region: taskwait and taskgroup; see task.h and group.h. quiesce.c has
 * the ends of barriers and regions. */
#include "core/task/task.h"

#include "core/task/depend.h"
#include "core/task/group.h"
#include "core/task/life.h"
#include "core/state/thread.h"
#include "core/wait/wait.h"
#include "platform/happens.h"

static inline bool is_childless(struct cst_task *task) {
    /* Acquire pairs with the children's counts: their writes are visible. */
    return task->children_here + cst_load_seq_cst(&task->balance) == 0;
}

static bool has_no_children(const struct cst_wait *wait) {
    return is_childless((struct cst_task *)wait->object);
}

/* The waits are functions of their own: where none is needed, a record of a wait costs nothing. */
static __attribute__((noinline)) void wait_for_children(struct cst_thread *thread,
                                                        struct cst_task *task) {
    struct cst_wait wait = {.holds = has_no_children, .object = task};
    cst_task_wait(thread, &wait);
    cst_happens_after(&task->balance);
}

void cst_task_wait_children(struct cst_thread *thread) {
    struct cst_task *task = thread->task;
    if (is_childless(task))
        cst_happens_after(&task->balance);
    else
        wait_for_children(thread, task);
}

void cst_task_wait_depend(struct cst_thread *thread, const struct cst_depend_list *depend) {
    cst_depend_await(thread, thread->task, depend);
}

void cst_group_begin(struct cst_thread *thread, struct cst_group *group) {
    struct cst_task *task = thread->task;
    *group = (struct cst_group){.enclosing = task->open_group, .seat = thread->seat};
    if (group->enclosing) group->reductions = group->enclosing->reductions;
    task->open_group = group;
}

static bool group_holds(const struct cst_wait *wait) {
    return cst_group_is_done((struct cst_group *)wait->object);
}

static __attribute__((noinline)) void wait_for_group(struct cst_thread *thread,
                                                     struct cst_group *group) {
    struct cst_wait wait = {.holds = group_holds, .object = group};
    cst_task_wait(thread, &wait);
}

struct cst_group *cst_group_end(struct cst_thread *thread) {
    struct cst_task *task = thread->task;
    struct cst_group *group = task->open_group;
    if (!cst_group_is_done(group)) wait_for_group(thread, group);
    cst_happens_after(&group->balance);
    task->open_group = group->enclosing;
    return group;
}

/* A program that yields probably polls for another thread's step. That thread may need the
 * Capability that this one keeps, so it is given back. */
void cst_task_yield(struct cst_thread *thread) {
    cst_coroutine_before_wait(thread->coroutine);
    cst_task_run_progeny(thread);
}

bool cst_task_help(struct cst_thread *thread, const struct cst_wait *wait) {
    (void)wait;
    return cst_load_relaxed(&thread->team->tasking) == thread->seat->region &&
           cst_task_run_any(thread);
}
