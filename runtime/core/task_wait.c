/* What waits for tasks: taskwait, taskgroup, the end of a barrier and of a region; see task.h and
 * group.h. */
#include "core/task.h"

#include "core/barrier.h"
#include "core/depend.h"
#include "core/group.h"
#include "core/thread.h"
#include "core/wait.h"

/* --- children and groups ---------------------------------------------------------------- */

static inline bool is_childless(struct cst_task *task) {
    /* Acquire pairs with the children's counts: what they wrote is visible. */
    return task->children_here + cst_load_seq_cst(&task->balance) == 0;
}

static bool has_no_children(const struct cst_wait *wait) {
    return is_childless((struct cst_task *)wait->object);
}

void cst_task_wait_children(struct cst_thread *thread) {
    struct cst_task *task = thread->task;
    if (is_childless(task)) return;
    struct cst_wait wait = {.holds = has_no_children, .object = task};
    cst_task_wait(thread, &wait);
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

void cst_group_end(struct cst_thread *thread) {
    struct cst_task *task = thread->task;
    struct cst_group *group = task->open_group;
    struct cst_wait wait = {.holds = group_holds, .object = group};
    if (!group_holds(&wait)) cst_task_wait(thread, &wait);
    task->open_group = group->enclosing;
}

/* --- the end of a barrier --------------------------------------------------------------- */

/* Are all deferred tasks of the team complete? Asked when every member has arrived, so that only
 * tasks make tasks. The counts only grow. What was done is summed first: if it then equals what
 * was made, which was read later, then at the moment between the two nothing was outstanding. */
static bool all_done(struct cst_team *team) {
    uint32_t capacity = cst_load_relaxed(&team->capacity);
    uint64_t done = cst_load_seq_cst(&team->foreign_done), made = 0;
    for (uint32_t i = 0; i < capacity; i++)
        done += cst_load_seq_cst(&cst_team_seat(team, i)->tasks_done);
    for (uint32_t i = 0; i < capacity; i++)
        made += cst_load_seq_cst(&cst_team_seat(team, i)->tasks_made);
    return done == made;
}

static bool all_done_holds(const struct cst_wait *wait) {
    return all_done((struct cst_team *)wait->object);
}

void cst_task_finish_region(struct cst_thread *thread) {
    struct cst_wait wait = {
        .holds = all_done_holds, .help = cst_barrier_help, .object = thread->team};
    while (cst_task_run_any(thread)) continue;
    if (!all_done(thread->team)) cst_wait(thread, &wait);
}

void cst_task_quiesce(struct cst_thread *thread) {
    struct cst_team *team = thread->team;
    struct cst_seat *seat = thread->seat;
    if (seat->number == 0) {
        cst_task_finish_region(thread);
        cst_exchange_seq_cst(&team->quiet, seat->barrier);
        if (cst_team_has_sleepers(team, seat->region)) cst_team_wake(team);
        return;
    }
    struct cst_wait wait = {.holds = cst_wait_word_holds,
                            .help = cst_barrier_help,
                            .word = &team->quiet,
                            .target = seat->barrier};
    cst_wait(thread, &wait);
}
