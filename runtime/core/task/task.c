/* Runs, completes and counts tasks; see task.h, and README.md, "Tasks". make.c makes them. */
#include "core/task/task.h"

#include "core/task/depend.h"
#include "core/task/life.h"
#include "core/task/steal.h"
#include "core/wait/box.h"
#include "core/wait/wait.h"
#include "platform/happens.h"

enum {
    MOST_RUNS = 16, /* tasks run between two looks at the wait's condition */
};

/* --- counting --------------------------------------------------------------------------- */

static void count_done_in_group(struct cst_thread *thread, struct cst_group *group,
                                uint32_t count) {
    struct cst_seat *opener = group->seat; /* the last count may end the group's life */
    if (opener == thread->seat) {
        group->made_here -= count;
        return;
    }
    /* Releases the writes of the tasks; pairs with cst_group_is_done. */
    cst_add_seq_cst(&group->balance, -(int64_t)count);
    cst_wake(opener);
}

bool cst_task_free_if_last(struct cst_thread *thread, struct cst_task *task, int32_t change) {
    cst_happens_before(task);
    if (cst_add_seq_cst(&task->balance, change) + change != 0) return false;
    cst_happens_after(task);
    cst_task_free(thread, task);
    return true;
}

/* Counts `count` completed children at `parent`. */
static void count_done_in_parent(struct cst_thread *thread, struct cst_task *parent,
                                 uint32_t count) {
    struct cst_seat *runner = cst_load_relaxed(&parent->seat);
    if (runner == thread->seat) {
        parent->children_here -= (int32_t)count;
        return;
    }
    /* Zero is reached only if the parent has returned and these were its last children (retire). */
    if (!cst_task_free_if_last(thread, parent, -(int32_t)count) && runner) cst_wake(runner);
}

static void count_done_in_team(struct cst_thread *thread, struct cst_team *team, uint32_t count) {
    struct cst_seat *seat = thread->seat;
    if (thread->team == team) {
        /* Release: pairs with all_done. */
        cst_store_release(&seat->tasks_done, cst_load_relaxed(&seat->tasks_done) + count);
        seat->completed_tasks = true;
    } else {
        cst_add_seq_cst(&team->foreign_done, count);
        cst_wake(&team->first); /* member 0 looks for the end; seats are never freed */
    }
}

static void count_done(struct cst_thread *thread, struct cst_team *team, struct cst_task *parent,
                       struct cst_group *group, uint32_t count) {
    if (group) count_done_in_group(thread, group, count);
    count_done_in_parent(thread, parent, count);
    count_done_in_team(thread, team, count);
}

/* Counts the completed tasks that the thread owes. */
static void settle(struct cst_thread *thread) {
    struct cst_owed *owed = &thread->owed;
    uint32_t count = owed->count;
    if (count == 0) return;
    owed->count = 0;
    /* The parent's team: the thread may be in another one, if a body has begun a region since. */
    count_done(thread, owed->parent->team, owed->parent, owed->group, count);
}

void cst_task_complete(struct cst_thread *thread, struct cst_task *task) {
    struct cst_task *parent = cst_load_relaxed(&task->parent);
    if (task->depend) {
        cst_happens_before(task->depend);
        cst_depend_complete(thread, task->depend);
        task->depend = NULL;
    }
    if (!task->deferred) return;
    cst_happens_before(&parent->balance);
    cst_happens_before(&task->team->quiet);
    if (task->group) cst_happens_before(&task->group->balance);
    if (thread->owed.running == task) {
        thread->owed.running = NULL;
        thread->owed.parent = parent;
        thread->owed.group = task->group;
        thread->owed.count++;
    } else {
        count_done(thread, task->team, parent, task->group, 1);
    }
}

/* --- running ---------------------------------------------------------------------------- */

/* Asked after the body. True: an event is pending, and the task is not complete. */
static bool event_is_pending(struct cst_task *task) {
    if (cst_likely(cst_load_relaxed(&task->detach) == CST_DETACH_NONE)) return false;
    uint8_t pending = CST_DETACH_PENDING;
    return cst_cas_release_found(&task->detach, &pending, CST_DETACH_RETURNED);
}

void cst_task_run(struct cst_thread *thread, struct cst_task *task) {
    struct cst_task *suspended = thread->task;
    cst_happens_after(task);
    if (cst_unlikely(task->depend != NULL)) cst_happens_after(task->depend);
    bool discarded =
        !task->constructed && task->deferred && cst_task_is_discarded(thread, task->group);
    cst_store_relaxed(&task->seat, thread->seat);
    task->floor = cst_load_relaxed(&thread->seat->deque.bottom);
    thread->task = task;
    if (cst_likely(!discarded)) thread = cst_task_call(thread, task->function, task->data);
    thread->task = suspended;
    if (cst_unlikely(task->children_depend != NULL)) {
        cst_depend_free_table(task->children_depend);
        task->children_depend = NULL;
    }
    if (!discarded && cst_unlikely(cst_load_relaxed(&task->detach) != CST_DETACH_NONE)) {
        /* Holds the task first: once the state is RETURNED, the thread that fulfils the event may
         * complete and free it. */
        int32_t here = task->children_here + 1;
        cst_store_relaxed(&task->seat, NULL);
        cst_add_relaxed(&task->balance, here);
        cst_happens_before(&task->detach);
        if (event_is_pending(task)) return;
        cst_happens_after(&task->detach);
        cst_task_complete(thread, task);
        cst_task_free_if_last(thread, task, -1);
        return;
    }
    cst_task_complete(thread, task);
    cst_task_retire(thread, task);
}

void cst_task_fulfill(struct cst_task *task) {
    uint8_t pending = CST_DETACH_PENDING;
    cst_happens_before(&task->detach);
    /* Release: successors see the writes of the fulfilling thread. Sequentially consistent, before
     * the load of `parked` (K1): pairs with is_fulfilled. */
    if (cst_cas_seq_cst_found(&task->detach, &pending, CST_DETACH_FULFILLED)) {
        struct cst_seat *seat = cst_load_relaxed(&task->seat);
        if (seat) cst_wake(seat);
        return;
    }
    if (pending != CST_DETACH_RETURNED) return; /* fulfilled twice: the program is wrong */
    struct cst_thread *thread = cst_self();
    cst_happens_after(&task->detach);
    cst_task_complete(thread, task);
    cst_task_free_if_last(thread, task, -1);
}

/* --- waiting ---------------------------------------------------------------------------- */

/* Tells member 0, which looks for the end, that this member has found no further task. The
 * read-modify-write orders this member's counts before member 0's load of them, or member 0's
 * `parked` before this member's load of it. */
static void report_idle(struct cst_thread *thread) {
    struct cst_seat *seat = thread->seat;
    if (seat->partners > 0) {
        /* A member that is about to sleep would keep a task until it is woken. */
        if (!cst_load_relaxed(&seat->dock.parked)) cst_box_open(seat);
        return;
    }
    if (!seat->completed_tasks) return;
    seat->completed_tasks = false;
    cst_add_seq_cst(&seat->tasks_done, 0);
    cst_wake(&thread->team->first);
}

/* Runs a task that any member may run. */
static void run_found(struct cst_thread *thread, struct cst_task *task) {
    struct cst_owed *owed = &thread->owed;
    if (owed->parent != cst_load_relaxed(&task->parent) || owed->group != task->group)
        settle(thread);
    owed->running = task;
    cst_task_run(thread, task);
    owed->running = NULL;
}

/* Runs up to MOST_RUNS tasks. To count each task at its parent would move the parent's line to and
 * fro, so tasks of one parent and group are counted together. The delayed count of the first task
 * delays no wait: a wait for children or for a group needs the later tasks too. */
bool cst_task_run_any(struct cst_thread *thread) {
    uint32_t runs = 0;
    while (runs < MOST_RUNS) {
        struct cst_task *task = cst_steal_any(thread);
        if (!task) break;
        run_found(thread, task);
        runs++;
    }
    settle(thread);
    if (runs == 0) report_idle(thread);
    return runs > 0;
}

/* Runs the task that the member was given while it waited, if any, and closes the box. */
void cst_task_stop_helping(struct cst_thread *thread) {
    struct cst_seat *seat = thread->seat;
    if (!cst_box_close(seat)) {
        run_found(thread, cst_box_take(seat));
        settle(thread);
    }
    cst_box_begin(seat);
}

/* Has the thread's team deferred tasks in this region? */
static inline bool has_tasks(struct cst_thread *thread) {
    return cst_load_relaxed(&thread->team->tasking) == thread->seat->region;
}

static bool run_progeny(struct cst_thread *thread, const struct cst_wait *wait) {
    (void)wait;
    if (!has_tasks(thread)) return false;
    struct cst_task *task = cst_steal_progeny(thread);
    if (!task) return false;
    cst_task_run(thread, task);
    return true;
}

void cst_task_wait(struct cst_thread *thread, struct cst_wait *wait) {
    wait->help = run_progeny;
    while (!wait->holds(wait))
        if (!run_progeny(thread, wait)) {
            cst_wait(thread, wait);
            return;
        }
}

void cst_task_run_progeny(struct cst_thread *thread) {
    if (has_tasks(thread)) run_progeny(thread, NULL);
}
