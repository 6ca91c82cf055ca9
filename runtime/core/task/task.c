/* A task's life; see task.h, and README.md, "Tasks". */
#include "core/state/task.h"

#include "core/task/cancel.h"
#include "core/settings/config.h"
#include "core/task/defer.h"
#include "core/task/depend.h"
#include "core/task/queue.h"
#include "core/base/memory.h"
#include "core/task/steal.h"
#include "core/state/thread.h"
#include "core/state/trace.h"
#include "core/wait/wait.h"
#include "platform/happens.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_RUNS = 16, /* tasks run before the wait's condition is looked at again */
};

void cst_task_init_implicit(struct cst_task *task, struct cst_team *team, struct cst_seat *seat,
                            struct cst_task *parent, const struct cst_icv *icv) {
    cst_store_relaxed(&task->parent, parent);
    task->team = team;
    task->group = task->open_group = NULL;
    task->nested = 0;
    cst_store_relaxed(&task->seat, seat);
    task->children_here = 0;
    cst_store_relaxed(&task->balance, 0);
    task->floor = INT64_MIN;
    task->icv = *icv;
    if (cst_unlikely(task->children_depend != NULL)) {
        cst_depend_free_table(task->children_depend);
        task->children_depend = NULL;
    }
}

/* --- counting --------------------------------------------------------------------------- */

static void count_made(struct cst_thread *thread, struct cst_task *task) {
    struct cst_seat *seat = thread->seat;
    cst_happens_before(task);
    cst_store_relaxed(&seat->tasks_made, cst_load_relaxed(&seat->tasks_made) + 1);
    seat->made_tasks = true;
    thread->task->children_here++;
    struct cst_group *group = task->group;
    if (!group) return;
    if (group->seat == seat)
        group->made_here++;
    else
        cst_add_relaxed(&group->balance, 1); /* before the maker is complete, see group.h */
}

static void count_done_in_group(struct cst_thread *thread, struct cst_group *group,
                                uint32_t count) {
    struct cst_seat *opener = group->seat; /* the group may be gone after the last count */
    if (opener == thread->seat) {
        group->made_here -= count;
        return;
    }
    /* Releases what the tasks wrote; pairs with cst_group_is_done. */
    cst_add_seq_cst(&group->balance, -(int64_t)count);
    cst_wake(opener);
}

static void free_task(struct cst_thread *thread, struct cst_task *task) {
    if (cst_unlikely(task->outside != NULL)) free(task->outside);
    cst_slab_free(&thread->slab, task);
}

/* Counts children, and the event, that are complete, or, when the task has returned, adds what it
 * has counted itself. Frees the task if nothing is left: true. Its seat may be asleep for it. */
static bool free_if_last(struct cst_thread *thread, struct cst_task *task, int32_t change) {
    cst_happens_before(task);
    if (cst_add_seq_cst(&task->balance, change) + change != 0) return false;
    cst_happens_after(task);
    free_task(thread, task);
    return true;
}

/* `count` children of `parent` are complete. */
static void count_done_in_parent(struct cst_thread *thread, struct cst_task *parent,
                                 uint32_t count) {
    struct cst_seat *runner = cst_load_relaxed(&parent->seat);
    if (runner == thread->seat) {
        parent->children_here -= (int32_t)count;
        return;
    }
    /* To zero only when the parent has returned and these were its last children (retire). */
    if (!free_if_last(thread, parent, -(int32_t)count) && runner) cst_wake(runner);
}

/* The task has returned. It is freed now, or with its last child, or (hold) once its event is
 * fulfilled. */
static void retire(struct cst_thread *thread, struct cst_task *task, bool hold) {
    int32_t here = task->children_here + hold;
    cst_store_relaxed(&task->seat, NULL);
    if (here == 0)
        free_task(thread, task);
    else
        free_if_last(thread, task, here);
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

/* Counts what the thread owes. */
static void settle(struct cst_thread *thread) {
    struct cst_owed *owed = &thread->owed;
    uint32_t count = owed->count;
    if (count == 0) return;
    owed->count = 0;
    /* Not the thread's team, if a body has begun a region since. */
    count_done(thread, owed->parent->team, owed->parent, owed->group, count);
}

/* All that follows a deferred task's body and event, but for its memory. */
static void complete(struct cst_thread *thread, struct cst_task *task) {
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

static inline bool is_discarded(struct cst_thread *thread, struct cst_group *group) {
    return cst_unlikely(cst_region_is_cancelled(thread)) ||
           cst_unlikely(cst_group_is_cancelled(group));
}

/* After the body: true if an event keeps the task from being complete. */
static bool event_is_pending(struct cst_task *task) {
    if (cst_likely(cst_load_relaxed(&task->detach) == CST_DETACH_NONE)) return false;
    uint8_t pending = CST_DETACH_PENDING;
    return cst_cas_acq_rel(&task->detach, &pending, CST_DETACH_RETURNED);
}

static void run(struct cst_thread *thread, struct cst_task *task) {
    struct cst_task *suspended = thread->task;
    cst_happens_after(task);
    if (cst_unlikely(task->depend != NULL)) cst_happens_after(task->depend);
    bool discarded = !task->constructed && task->deferred && is_discarded(thread, task->group);
    cst_store_relaxed(&task->seat, thread->seat);
    task->floor = cst_load_relaxed(&thread->seat->deque.bottom);
    thread->task = task;
    if (cst_likely(!discarded)) {
        cst_trace(CST_TRACE_TASK_BEGINS, thread, thread->seat->size);
        task->function(task->data);
        thread = cst_self();
        cst_trace(CST_TRACE_TASK_ENDS, thread, thread->seat->size);
    }
    thread->task = suspended;
    if (cst_unlikely(task->children_depend != NULL)) {
        cst_depend_free_table(task->children_depend);
        task->children_depend = NULL;
    }
    if (!discarded && cst_unlikely(cst_load_relaxed(&task->detach) != CST_DETACH_NONE)) {
        /* Held first: once the state says RETURNED, whoever fulfils may complete and free it. */
        int32_t here = task->children_here + 1;
        cst_store_relaxed(&task->seat, NULL);
        cst_add_acq_rel(&task->balance, here);
        cst_happens_before(&task->detach);
        if (event_is_pending(task)) return;
        cst_happens_after(&task->detach);
        complete(thread, task);
        free_if_last(thread, task, -1);
        return;
    }
    complete(thread, task);
    retire(thread, task, false);
}

void cst_task_fulfill(struct cst_task *task) {
    uint8_t pending = CST_DETACH_PENDING;
    cst_happens_before(&task->detach);
    /* Release: what the fulfiller wrote is visible to successors. Before the look at who is parked
     * (K1): pairs with is_fulfilled. */
    if (cst_cas_seq_cst(&task->detach, &pending, CST_DETACH_FULFILLED)) {
        struct cst_seat *seat = cst_load_relaxed(&task->seat);
        if (seat) cst_wake(seat);
        return;
    }
    if (pending != CST_DETACH_RETURNED) return; /* fulfilled twice: the program is wrong */
    struct cst_thread *thread = cst_self();
    cst_happens_after(&task->detach);
    complete(thread, task);
    free_if_last(thread, task, -1);
}

/* --- waiting ---------------------------------------------------------------------------- */

/* Tells member 0, which looks for the end, that this member has come to one. A read-modify-write
 * orders our counts before its look at them, or its going to sleep before ours at `parked`. */
static void report_idle(struct cst_thread *thread) {
    struct cst_seat *seat = thread->seat;
    if (seat->partners > 0) {
        /* Who is about to sleep would keep a task until it is woken. */
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
    run(thread, task);
    owed->running = NULL;
}

/* Runs a few. Counting each at its parent would move the parent's line to and fro, so tasks of one
 * parent and group are counted together. Nobody misses the count of the first while the next one
 * runs: who waits for children, or for a group, waits for both. */
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

/* What it was given while it waited is not left to wait for it. */
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
    run(thread, task);
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

void cst_task_yield(struct cst_thread *thread) {
    if (has_tasks(thread)) run_progeny(thread, NULL);
}

/* --- making ----------------------------------------------------------------------------- */

/* Tells the team that there is work. No fence between the push and the look at the sleepers:
 * whoever goes to sleep makes up for it (wait.c, park). */
static void announce(struct cst_team *team, uint32_t region) {
    if (cst_unlikely(cst_load_relaxed(&team->tasking) != region))
        cst_store_seq_cst(&team->tasking, region);
    cst_compiler_barrier();
    uint64_t sleepers = cst_load_relaxed(&team->sleepers);
    if (cst_unlikely(sleepers >> 32 == region && (uint32_t)sleepers != 0)) cst_team_wake(team);
}

void cst_task_ready(struct cst_thread *thread, struct cst_task *task) {
    struct cst_team *team = task->team;
    if (thread->team != team) {
        uint32_t region = team->region;
        cst_store_seq_cst(&team->tasking, region);
        if (!cst_queue_push(team, task))
            cst_memory_exhausted("a task of another team", sizeof task);
        cst_team_wake(team);
        return;
    }
    uint32_t region = thread->seat->region;
    /* `tasking` before the push: is_in_region relies on it. */
    if (cst_load_relaxed(&team->tasking) != region) cst_store_seq_cst(&team->tasking, region);
    if (thread->seat->partners > 0 && task->priority == 0 && !cst_defer_is_tiny(thread) &&
        cst_box_hand(thread, task))
        return;
    if (!(task->priority > 0 && cst_queue_push(team, task)) &&
        !cst_deque_push(&thread->seat->deque, task)) {
        run(thread, task);
        return;
    }
    announce(team, region);
}

/* What all new tasks have in common. */
static inline void init(struct cst_task *task, struct cst_thread *thread, struct cst_task *parent) {
    /* Release: the parent, set up; pairs with is_progeny's look at a task that it has found by an
     * old pointer (steal.c). */
    cst_store_release(&task->parent, parent);
    task->group = task->open_group = parent->open_group;
    task->team = thread->team;
    task->children_here = 0;
    cst_store_relaxed(&task->balance, 0);
    cst_store_relaxed(&task->depth, cst_load_relaxed(&parent->depth) + 1);
    task->kind = CST_TASK_EXPLICIT;
    task->depend = NULL;
    task->children_depend = NULL;
    task->icv = parent->icv;
}

/* For the task's data, however its memory is aligned. The size is the program's: of an array whose
 * length is no constant, for one. */
static size_t room_for(const struct cst_task_request *request) {
    size_t room;
    if (__builtin_add_overflow(request->size, request->alignment, &room))
        cst_memory_exhausted("the data of a task", SIZE_MAX);
    return room;
}

/* The task's record, with room for `size` bytes of data. */
static struct cst_task *make(struct cst_thread *thread, const struct cst_task_request *request,
                             size_t size) {
    struct cst_task *parent = thread->task;
    bool inside = size <= CST_SLAB_LARGEST - sizeof(struct cst_task);
    struct cst_task *task = cst_slab_allocate(&thread->slab, sizeof *task + (inside ? size : 0));
    void *outside = NULL;
    if (!inside) outside = malloc(size);
    if (!task || (!inside && !outside)) cst_memory_exhausted("a task", sizeof *task + size);
    task->function = request->function;
    task->data = inside ? task + 1 : outside;
    task->outside = outside;
    init(task, thread, parent);
    cst_store_relaxed(&task->seat, NULL);
    task->final = request->final || parent->final;
    cst_store_relaxed(&task->detach, request->detach_event ? CST_DETACH_PENDING : CST_DETACH_NONE);
    task->priority = request->priority;
    task->constructed = request->copy != NULL;
    task->nested = 0;
    if (request->detach_event) {
        /* Where the program and the task's data (its first word) hold the event. */
        *request->detach_event = task;
        if (request->data) *(void **)request->data = task;
    }
    return task;
}

static void copy_data(struct cst_task *task, const struct cst_task_request *request) {
    uintptr_t mask = request->alignment ? request->alignment - 1 : 0;
    void *data = (void *)(((uintptr_t)task->data + mask) & ~mask);
    if (request->copy)
        request->copy(data, request->data);
    else if (request->size)
        memcpy(data, request->data, request->size);
    if (request->bounds) memcpy(data, request->bounds, 2 * sizeof *request->bounds);
    task->data = data;
}

static bool is_fulfilled(const struct cst_wait *wait) {
    struct cst_task *task = (struct cst_task *)wait->object;
    return cst_load_seq_cst(&task->detach) == CST_DETACH_FULFILLED;
}

/* Undeferred, as nearly all are: without an event, and its data where the program has it. Of run
 * and what leads there this is what is left. Its record is no local variable, since its children
 * may outlive it. */
static void run_plain(struct cst_thread *thread, const struct cst_task_request *request) {
    struct cst_task *parent = thread->task;
    struct cst_task *task = cst_slab_allocate(&thread->slab, sizeof *task);
    if (cst_unlikely(!task)) cst_memory_exhausted("a task", sizeof *task);
    init(task, thread, parent);
    task->outside = NULL;
    cst_store_relaxed(&task->seat, thread->seat);
    task->final = request->final || parent->final;
    task->deferred = false;
    cst_store_relaxed(&task->detach, CST_DETACH_NONE);
    task->nested = (uint16_t)(parent->nested + 1);
    task->floor = cst_load_relaxed(&thread->seat->deque.bottom);
    thread->task = task;
    if (request->bounds) memcpy(request->data, request->bounds, 2 * sizeof *request->bounds);
    cst_trace(CST_TRACE_TASK_BEGINS, thread, thread->seat->size);
    request->function(request->data);
    thread = cst_self();
    cst_trace(CST_TRACE_TASK_ENDS, thread, thread->seat->size);
    thread->task = parent;
    if (cst_unlikely(task->children_depend != NULL)) cst_depend_free_table(task->children_depend);
    retire(thread, task, false);
}

/* if(0), a final parent: the encountering task waits for the new one, with its event. It is
 * complete before the next sibling is made, so the siblings need not know it. */
static void run_undeferred(struct cst_thread *thread, const struct cst_task_request *request) {
    if (cst_unlikely(request->depend != NULL)) {
        cst_depend_await(thread, thread->task, request->depend);
        thread = cst_self();
    }
    if (cst_likely(!request->copy && !request->detach_event)) {
        run_plain(thread, request);
        return;
    }
    struct cst_task *task = make(thread, request, request->copy ? room_for(request) : 0);
    task->deferred = false;
    task->nested = (uint16_t)(thread->task->nested + 1);
    cst_store_relaxed(&task->seat, thread->seat);
    if (request->copy) {
        copy_data(task, request);
    } else {
        task->data = request->data;
        if (request->bounds) memcpy(task->data, request->bounds, 2 * sizeof *request->bounds);
    }
    if (!request->detach_event) {
        run(thread, task);
        return;
    }
    struct cst_task *suspended = thread->task;
    thread->task = task;
    task->floor = cst_load_relaxed(&thread->seat->deque.bottom);
    cst_trace(CST_TRACE_TASK_BEGINS, thread, thread->seat->size);
    task->function(task->data);
    cst_trace(CST_TRACE_TASK_ENDS, cst_self(), thread->seat->size);
    struct cst_wait wait = {.holds = is_fulfilled, .object = task};
    cst_task_wait(cst_self(), &wait);
    cst_happens_after(&task->detach);
    thread = cst_self();
    thread->task = suspended;
    complete(thread, task);
    retire(thread, task, false);
}

static void run_sample(struct cst_thread *thread, const struct cst_task_request *request) {
    uint64_t begin = cst_clock_ticks();
    run_undeferred(thread, request);
    cst_defer_learn(cst_self(), cst_clock_ticks() - begin);
}

void cst_task_create(struct cst_thread *thread, const struct cst_task_request *request) {
    struct cst_task *parent = thread->task;
    if (is_discarded(thread, parent->open_group)) return;
    thread->tasks++;
    bool waits_for_others = request->detach_event || request->priority > 0 ||
                            (request->depend && !cst_depend_is_void(thread, parent));
    if (!waits_for_others && request->deferrable && thread->team->size > 1 &&
        cst_defer_is_sample(thread)) {
        run_sample(thread, request);
        return;
    }
    /* What runs at once needs no copy of its data, and nobody counts it. */
    if (!request->deferrable || parent->final ||
        (!waits_for_others && !cst_defer_wanted(thread, request))) {
        run_undeferred(thread, request);
        return;
    }
    struct cst_task *task = make(thread, request, room_for(request));
    copy_data(task, request);
    task->deferred = true;
    count_made(thread, task);
    if (request->depend && !cst_depend_enter(thread, parent, task, request->depend)) return;
    if (!waits_for_others || cst_defer_wanted(thread, request)) {
        cst_task_ready(thread, task);
        return;
    }
    task->nested = (uint16_t)(parent->nested + 1);
    run(thread, task);
}
