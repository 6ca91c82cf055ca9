/* Makes tasks, and defers them for other members or runs them at once; see task.h, and README.md,
 * "Tasks". */
#include "core/task/task.h"

#include "core/base/memory.h"
#include "core/task/defer.h"
#include "core/task/depend.h"
#include "core/task/life.h"
#include "core/task/queue.h"
#include "core/wait/box.h"
#include "core/wait/wait.h"
#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

void cst_task_init_implicit(struct cst_task *task, struct cst_team *team, struct cst_seat *seat,
                            struct cst_task *parent, const struct cst_icv *icv) {
    cst_store_relaxed(&task->parent, parent);
    task->team = team;
    task->group = NULL;
    task->open_group = team->group;
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

/* --- ready ------------------------------------------------------------------------------ */

/* Tells the team that there is work. There is no fence between the push and the load of the
 * sleepers: a barrier in the member that goes to sleep takes its place (park.c). */
static void announce(struct cst_team *team, uint32_t region) {
    if (cst_unlikely(cst_load_relaxed(&team->tasking) != region))
        cst_store_relaxed(&team->tasking, region);
    cst_compiler_barrier();
    uint64_t sleepers = cst_load_relaxed(&team->sleepers);
    if (cst_unlikely(sleepers >> 32 == region && (uint32_t)sleepers != 0)) cst_team_wake(team);
}

void cst_task_ready(struct cst_thread *thread, struct cst_task *task) {
    struct cst_team *team = task->team;
    if (thread->team != team) {
        uint32_t region = team->region;
        cst_store_relaxed(&team->tasking, region);
        if (!cst_queue_push(team, task))
            cst_memory_exhausted("a task of another team", sizeof task);
        /* Orders the push before the load of `parked` (K1). The other half is the barrier in
         * park. */
        cst_fence_seq_cst();
        cst_team_wake(team);
        return;
    }
    uint32_t region = thread->seat->region;
    /* Relaxed: the push, which comes later, releases it. is_in_region relies on that. */
    if (cst_load_relaxed(&team->tasking) != region) cst_store_relaxed(&team->tasking, region);
    if (thread->seat->partners > 0 && task->priority == 0 && !cst_defer_is_tiny(thread) &&
        cst_box_hand(thread, task))
        return;
    if (!(task->priority > 0 && cst_queue_push(team, task)) &&
        !cst_deque_push(&thread->seat->deque, task)) {
        cst_task_run(thread, task);
        return;
    }
    announce(team, region);
}

/* --- records ---------------------------------------------------------------------------- */

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

/* Sets the fields that are alike in all new tasks. */
static inline void init(struct cst_task *task, struct cst_thread *thread, struct cst_task *parent) {
    /* Release: publishes the parent, which is set up. Pairs with is_progeny's load from a task that
     * a thief has found by an old pointer (steal.c). */
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

/* The room for the task's data, however its memory is aligned. The program sets the size, for
 * example by an array of variable length. */
static size_t room_for(size_t size, size_t alignment) {
    size_t room;
    if (__builtin_add_overflow(size, alignment, &room))
        cst_memory_exhausted("the data of a task", SIZE_MAX);
    return room;
}

/* Makes the task's record, with room for `size` bytes of data. */
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
    cst_store_relaxed(&task->detach, request->tell_event ? CST_DETACH_PENDING : CST_DETACH_NONE);
    task->priority = request->priority;
    task->constructed = request->copy != NULL || request->destroys;
    task->nested = 0;
    if (request->tell_event) request->tell_event(request, task);
    return task;
}

/* Aligns the beginning of the data as requested. */
static void align_data(struct cst_task *task, const struct cst_task_request *request) {
    uintptr_t mask = request->alignment ? request->alignment - 1 : 0;
    task->data = (void *)(((uintptr_t)task->data + mask) & ~mask);
}

static void copy_data(struct cst_task *task, const struct cst_task_request *request) {
    align_data(task, request);
    if (request->copy)
        request->copy(task->data, request->data);
    else if (request->size)
        memcpy(task->data, request->data, request->size);
    if (request->finish_data) request->finish_data(request, task->data);
}

/* --- at once ---------------------------------------------------------------------------- */

static bool is_fulfilled(const struct cst_wait *wait) {
    struct cst_task *task = (struct cst_task *)wait->object;
    return cst_load_seq_cst(&task->detach) == CST_DETACH_FULFILLED;
}

/* The fast path of nearly all undeferred tasks: the task has no event, and its data stays in the
 * program's memory. Its record is no local variable, since its children may outlive it. */
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
    if (request->finish_data) request->finish_data(request, request->data);
    thread = cst_task_call(thread, request->function, request->data);
    thread->task = parent;
    if (cst_unlikely(task->children_depend != NULL)) cst_depend_free_table(task->children_depend);
    cst_task_retire(thread, task);
}

void cst_task_begin(struct cst_thread *thread, struct cst_task *task) {
    task->deferred = false;
    task->nested = (uint16_t)(thread->task->nested + 1);
    cst_store_relaxed(&task->seat, thread->seat);
    task->floor = cst_load_relaxed(&thread->seat->deque.bottom);
    thread->task = task;
    cst_trace(CST_TRACE_TASK_BEGINS, thread, thread->seat->size);
}

void cst_task_end(struct cst_thread *thread, struct cst_task *task) {
    cst_trace(CST_TRACE_TASK_ENDS, thread, thread->seat->size);
    if (cst_unlikely(cst_load_relaxed(&task->detach) != CST_DETACH_NONE)) {
        struct cst_wait wait = {.holds = is_fulfilled, .object = task};
        cst_task_wait(thread, &wait);
        cst_happens_after(&task->detach);
        thread = cst_self();
    }
    thread->task = cst_load_relaxed(&task->parent);
    if (cst_unlikely(task->children_depend != NULL)) {
        cst_depend_free_table(task->children_depend);
        task->children_depend = NULL;
    }
    /* No task depends on it, and no counter includes it (await_predecessors). */
    cst_task_retire(thread, task);
}

/* Runs the task while the encountering task waits, also for the event of a detached task. */
static void run_made(struct cst_thread *thread, struct cst_task *task) {
    cst_task_begin(thread, task);
    task->function(task->data);
    cst_task_end(cst_self(), task);
}

/* Waits for the predecessors of an undeferred task. The task is complete before the next sibling is
 * made, so the table needs no entry for it. */
static struct cst_thread *await_predecessors(struct cst_thread *thread,
                                             const struct cst_task_request *request) {
    if (cst_likely(!request->depend)) return thread;
    cst_depend_await(thread, thread->task, request->depend);
    return cst_self();
}

/* Runs a task of if(0) or of a final parent: the encountering task waits for it. */
static void run_undeferred(struct cst_thread *thread, const struct cst_task_request *request) {
    thread = await_predecessors(thread, request);
    if (cst_likely(!request->copy && !request->tell_event)) {
        run_plain(thread, request);
        return;
    }
    struct cst_task *task =
        make(thread, request, request->copy ? room_for(request->size, request->alignment) : 0);
    if (request->copy) {
        copy_data(task, request);
    } else {
        task->data = request->data;
        if (request->finish_data) request->finish_data(request, task->data);
    }
    run_made(thread, task);
}

static void run_sample(struct cst_thread *thread, const struct cst_task_request *request) {
    uint64_t begin = cst_clock_ticks();
    run_undeferred(thread, request);
    cst_defer_learn(cst_self(), cst_clock_ticks() - begin);
}

/* --- deferred ----------------------------------------------------------------------------- */

/* Must the task be deferred, because it may have to wait for other tasks, or other tasks for it? */
static inline bool waits_for_others(struct cst_thread *thread,
                                    const struct cst_task_request *request) {
    return request->tell_event || request->priority > 0 ||
           (request->depend && !cst_depend_is_void(thread, thread->task));
}

static void put_out(struct cst_thread *thread, struct cst_task *task,
                    const struct cst_task_request *request, bool waits) {
    struct cst_task *parent = thread->task;
    task->deferred = true;
    count_made(thread, task);
    if (request->depend && !cst_depend_enter(thread, parent, task, request->depend)) return;
    if (!waits || cst_defer_wanted(thread, request)) {
        cst_task_ready(thread, task);
        return;
    }
    task->nested = (uint16_t)(parent->nested + 1);
    cst_task_run(thread, task);
}

CST_FLAT void cst_task_create(struct cst_thread *thread, const struct cst_task_request *request) {
    struct cst_task *parent = thread->task;
    if (cst_task_is_discarded(thread, parent->open_group)) return;
    thread->tasks++;
    bool waits = waits_for_others(thread, request);
    if (!waits && request->deferrable && thread->team->size > 1 && cst_defer_is_sample(thread)) {
        run_sample(thread, request);
        return;
    }
    /* A task that runs at once needs no copy of its data, and no counter includes it. */
    if (!request->deferrable || parent->final || (!waits && !cst_defer_wanted(thread, request))) {
        run_undeferred(thread, request);
        return;
    }
    struct cst_task *task = make(thread, request, room_for(request->size, request->alignment));
    copy_data(task, request);
    put_out(thread, task, request, waits);
}

CST_FLAT struct cst_task *cst_task_allocate(struct cst_thread *thread,
                                            const struct cst_task_request *request, size_t size) {
    struct cst_task *task = make(thread, request, room_for(size, request->alignment));
    align_data(task, request);
    return task;
}

void cst_task_discard(struct cst_thread *thread, struct cst_task *task) {
    cst_task_free(thread, task);
}

CST_FLAT void cst_task_submit(struct cst_thread *thread, struct cst_task *task,
                              const struct cst_task_request *request) {
    struct cst_task *parent = thread->task;
    if (cst_task_is_discarded(thread, parent->open_group)) {
        /* Some bodies must run nevertheless: see `destroys`. */
        if (task->constructed)
            run_made(thread, task);
        else
            cst_task_free(thread, task);
        return;
    }
    thread->tasks++;
    task->priority = request->priority;
    bool waits = waits_for_others(thread, request);
    if (!waits && request->deferrable && thread->team->size > 1 && cst_defer_is_sample(thread)) {
        uint64_t begin = cst_clock_ticks();
        run_made(thread, task);
        cst_defer_learn(cst_self(), cst_clock_ticks() - begin);
    } else if (!request->deferrable || parent->final ||
               (!waits && !cst_defer_wanted(thread, request))) {
        run_made(await_predecessors(thread, request), task);
    } else {
        put_out(thread, task, request, waits);
    }
}
