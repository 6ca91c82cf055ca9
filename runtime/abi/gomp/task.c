/* Tasks: GCC's calls, decoded. */
#include "abi/gomp/facts.h"
#include "abi/gomp/depend.h"
#include "abi/omp/both.h"
#include "abi/whole.h"
#include "core/front.h"

#include <stdlib.h>
#include <string.h>

CST_WHOLE(gomp_task);

/* --- task, taskwait, taskyield, taskgroup -------------------------------------------------- */

static int32_t priority_of(int priority) {
    if (priority < 0) return 0;
    return (uint32_t)priority > cst_config.max_task_priority ? (int32_t)cst_config.max_task_priority
                                                             : priority;
}

/* A task with an event: the event's handle goes to the program's variable, and into the first word
 * of the task's data, where its body looks for it. */
struct detached {
    struct cst_task_request request;
    void **event;
};

static void tell_event(const struct cst_task_request *request, struct cst_task *event) {
    *((const struct detached *)request)->event = event;
    if (request->data) *(void **)request->data = event;
}

CST_ENTRY(CST_FRONT_GOMP, void, GOMP_task,
          (gomp_body * body, void *data, gomp_copy *copy, long size, long alignment, bool wanted,
           unsigned flags, void **depend, int priority, void *detach),
          (body, data, copy, size, alignment, wanted, flags, depend, priority, detach)) {
    struct cst_depend_list list;
    struct detached task = {.request = {
                                .function = body,
                                .data = data,
                                .copy = copy,
                                .size = (size_t)size,
                                .alignment = (size_t)alignment,
                                .deferrable = wanted,
                                .final = flags & GOMP_TASK_FINAL,
                            }};
    struct cst_task_request *request = &task.request;
    if (flags & GOMP_TASK_PRIORITY) request->priority = priority_of(priority);
    if (flags & GOMP_TASK_DEPEND) request->depend = cst_gomp_depend_decode(&list, depend);
    if (flags & GOMP_TASK_DETACH) {
        task.event = detach;
        request->tell_event = tell_event;
    }
    cst_task_create(cst_self(), request);
}

CST_ENTRY(CST_FRONT_GOMP, void, GOMP_taskwait, (void), ()) {
    cst_task_wait_children(cst_self());
}

CST_ENTRY(CST_FRONT_GOMP, void, GOMP_taskwait_depend, (void **depend), (depend)) {
    struct cst_depend_list list;
    cst_task_wait_depend(cst_self(), cst_gomp_depend_decode(&list, depend));
}

static void nothing(void *data) {
    (void)data;
}

CST_ENTRY(CST_FRONT_GOMP, void, GOMP_taskwait_depend_nowait, (void **depend), (depend)) {
    struct cst_depend_list list;
    struct cst_task_request request = {.function = nothing,
                                       .data = depend,
                                       .deferrable = true,
                                       .depend = cst_gomp_depend_decode(&list, depend)};
    cst_task_create(cst_self(), &request);
}

void GOMP_taskyield(void) {
    cst_task_yield(cst_self());
}

/* The group of an explicit taskgroup construct. It lives between two calls, so it is not on the
 * stack. */
static void begin_group(struct cst_thread *thread) {
    struct cst_group *group = malloc(sizeof *group);
    if (!group) cst_memory_exhausted("a taskgroup", sizeof *group);
    cst_group_begin(thread, group);
}

CST_ENTRY(CST_FRONT_GOMP, void, GOMP_taskgroup_start, (void), ()) {
    begin_group(cst_self());
}

CST_ENTRY(CST_FRONT_GOMP, void, GOMP_taskgroup_end, (void), ()) {
    free(cst_group_end(cst_self()));
}

/* --- taskloop ----------------------------------------------------------------------------- */

struct taskloop {
    struct cst_task_request request;
    uint64_t bounds[2]; /* of the next task */
    uint64_t start, end, step, trip;
    unsigned flags;
};

/* Stores a task's bounds in the first words of its data, over those of the program's data. */
static void set_bounds(const struct cst_task_request *request, void *data) {
    memcpy(data, ((const struct taskloop *)request)->bounds, 2 * sizeof(uint64_t));
}

static void create_tasks(struct cst_thread *thread, struct taskloop *loop,
                         const struct cst_schedule_cut *cut) {
    uint64_t from = 0;
    for (uint64_t i = 0; i < cut->count; i++) {
        uint64_t size = cut->each + (i < cut->longer);
        if (size > loop->trip - from) size = loop->trip - from;
        uint64_t to = from + size;
        loop->bounds[0] = loop->start + from * loop->step;
        loop->bounds[1] = to == loop->trip ? loop->end : loop->start + to * loop->step;
        cst_task_create(thread, &loop->request);
        thread = cst_self();
        from = to;
    }
}

/* The word behind the bounds leads to the description of the taskloop's reductions. */
static uintptr_t *reductions_of(struct taskloop *loop) {
    return ((uintptr_t **)loop->request.data)[2];
}

static void run_taskloop(struct taskloop *loop, uint64_t wanted) {
    struct cst_thread *thread = cst_self();
    bool grouped = !(loop->flags & GOMP_TASK_NOGROUP);
    bool reduces = grouped && (loop->flags & GOMP_TASK_REDUCTION);
    if (loop->trip == 0 || cst_region_is_cancelled(thread)) {
        /* Stores 0 as the memory, so that the caller combines nothing. */
        if (reduces) reductions_of(loop)[GOMP_REDUCTION_MEMORY] = 0;
        return;
    }
    struct cst_group group;
    if (grouped) cst_group_begin(thread, &group);
    if (reduces) GOMP_taskgroup_reduction_register(reductions_of(loop));
    enum cst_schedule_cutting how =
        loop->flags & GOMP_TASK_GRAINSIZE ? CST_CUT_BY_SIZE : CST_CUT_BY_COUNT;
    struct cst_schedule_cut cut =
        cst_schedule_cut(loop->trip, wanted, how, loop->flags & GOMP_TASK_STRICT, cst_ask_size());
    create_tasks(thread, loop, &cut);
    if (grouped) cst_group_end(cst_self());
}

static struct cst_task_request taskloop_request(gomp_body *body, void *data, gomp_copy *copy,
                                                long size, long alignment, unsigned flags,
                                                int priority) {
    return (struct cst_task_request){.function = body,
                                     .data = data,
                                     .copy = copy,
                                     .size = (size_t)size,
                                     .alignment = (size_t)alignment,
                                     .finish_data = set_bounds,
                                     .deferrable = flags & GOMP_TASK_IF,
                                     .final = flags & GOMP_TASK_FINAL,
                                     .priority = priority_of(priority)};
}

CST_ENTRY(CST_FRONT_GOMP, void, GOMP_taskloop,
          (gomp_body * body, void *data, gomp_copy *copy, long size, long alignment, unsigned flags,
           unsigned long tasks, int priority, long start, long end, long step),
          (body, data, copy, size, alignment, flags, tasks, priority, start, end, step)) {
    struct taskloop loop = {
        .request = taskloop_request(body, data, copy, size, alignment, flags, priority),
        .start = (uint64_t)start,
        .end = (uint64_t)end,
        .step = (uint64_t)step,
        .trip = cst_schedule_trip((uint64_t)start, (uint64_t)end, (uint64_t)step, step > 0, true),
        .flags = flags};
    run_taskloop(&loop, tasks);
}

CST_ENTRY(CST_FRONT_GOMP, void, GOMP_taskloop_ull,
          (gomp_body * body, void *data, gomp_copy *copy, long size, long alignment, unsigned flags,
           unsigned long tasks, int priority, gomp_ull start, gomp_ull end, gomp_ull step),
          (body, data, copy, size, alignment, flags, tasks, priority, start, end, step)) {
    struct taskloop loop = {
        .request = taskloop_request(body, data, copy, size, alignment, flags, priority),
        .start = start,
        .end = end,
        .step = step,
        .trip = cst_schedule_trip(start, end, step, flags & GOMP_TASK_UP, false),
        .flags = flags};
    run_taskloop(&loop, tasks);
}

/* --- objects of GCC that clang links --------------------------------------------------------- */

CST_FOR_BOTH(GOMP_task);
CST_FOR_BOTH(GOMP_taskgroup_end);
CST_FOR_BOTH(GOMP_taskgroup_start);
CST_FOR_BOTH(GOMP_taskloop);
CST_FOR_BOTH(GOMP_taskloop_ull);
CST_FOR_BOTH(GOMP_taskwait);
CST_FOR_BOTH(GOMP_taskwait_depend);
CST_FOR_BOTH(GOMP_taskyield);
