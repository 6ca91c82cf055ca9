/* Tasks: clang's calls, decoded. The compiled code allocates a task, fills it in, and then submits
 * it. */
#include "abi/kmp/task.h"

#include "abi/kmp/note.h"
#include "abi/kmp/taskred.h"
#include "abi/whole.h"

#include <stdlib.h>

CST_WHOLE(kmp_task);

enum { ALIGNMENT = 16 };
_Static_assert(sizeof(struct kmp_head) % ALIGNMENT == 0, "a task is as aligned as malloc's memory");

/* --- making and running -------------------------------------------------------------------- */

static void destroy(struct kmp_task *task, int32_t thread) {
    if ((cst_kmp_head(task)->flags & KMP_TASK_DESTRUCTORS) && task->data1.destructors)
        task->data1.destructors(thread, task);
}

/* Runs the parts of a task. At the end of a part, an untied task submits itself and returns, so
 * that another thread could continue it. Here the same thread continues it. */
static void call(struct kmp_head *head, struct kmp_task *task, int32_t number) {
    head->runs = true;
    do {
        head->continues = false;
        task->routine(number, task);
    } while (cst_unlikely(head->continues));
}

static void run(void *data) {
    struct kmp_head *head = data;
    struct kmp_task *task = (void *)(head + 1);
    struct cst_thread *thread = cst_self();
    int32_t number = (int32_t)cst_own_record(thread);
    if (cst_likely(!(head->flags & KMP_TASK_DESTRUCTORS))) {
        call(head, task, number);
        return;
    }
    /* A cancelled task runs only to destroy its variables. */
    if (!cst_region_is_cancelled(thread) && !cst_taskgroup_is_cancelled(thread))
        call(head, task, number);
    destroy(task, number);
}

static void tell_event(const struct cst_task_request *request, struct cst_task *event) {
    (void)request, (void)event; /* the program asks for it */
}

/* The request of nearly all tasks. */
static const struct cst_task_request plain = {
    .function = run, .alignment = ALIGNMENT, .deferrable = true};

/* Tasks that another thread completes, perhaps long after their bodies have returned. */
enum { COMPLETED_BY_OTHERS = KMP_TASK_DETACH | KMP_TASK_PROXY };

static inline bool is_plain(int32_t flags) {
    return !(flags &
             (KMP_TASK_FINAL | KMP_TASK_DESTRUCTORS | KMP_TASK_PRIORITY | COMPLETED_BY_OTHERS));
}

static struct cst_task_request request_for(int32_t flags) {
    return (struct cst_task_request){.function = run,
                                     .alignment = ALIGNMENT,
                                     .tell_event = flags & COMPLETED_BY_OTHERS ? tell_event : NULL,
                                     .final = flags & KMP_TASK_FINAL,
                                     .destroys = flags & KMP_TASK_DESTRUCTORS,
                                     .deferrable = true};
}

/* The routine of a task that has only dependences, as in taskwait with nowait. */
static int32_t no_routine(int32_t thread, struct kmp_task *task) {
    (void)thread, (void)task;
    return 0;
}

struct kmp_task *cst_kmp_task_make(int32_t flags, size_t size, size_t shareds,
                                   kmp_routine *routine) {
    size_t begin = (size + sizeof(void *) - 1) & ~(sizeof(void *) - 1);
    size_t whole = sizeof(struct kmp_head) + begin + shareds;
    struct cst_task *record;
    if (cst_likely(is_plain(flags))) {
        record = cst_task_allocate(cst_self(), &plain, whole);
    } else {
        struct cst_task_request request = request_for(flags);
        record = cst_task_allocate(cst_self(), &request, whole);
    }
    struct kmp_head *head = cst_task_data(record);
    *head = (struct kmp_head){
        .record = record, .size = begin + shareds, .shareds = shareds ? begin : 0, .flags = flags};
    struct kmp_task *task = (void *)(head + 1);
    task->shareds = shareds ? (char *)task + begin : NULL;
    task->routine = routine ? routine : no_routine;
    task->part = 0;
    return task;
}

static int32_t priority_of(const struct kmp_head *head, const struct kmp_task *task) {
    if (!(head->flags & KMP_TASK_PRIORITY) || task->data2.priority <= 0) return 0;
    uint32_t priority = (uint32_t)task->data2.priority, most = cst_config.max_task_priority;
    return (int32_t)(priority < most ? priority : most);
}

void cst_kmp_task_drop(struct cst_thread *thread, struct kmp_task *task) {
    struct cst_task *record = cst_kmp_head(task)->record;
    destroy(task, (int32_t)cst_own_record(thread));
    cst_task_discard(cst_self(), record);
}

void cst_kmp_task_submit(struct cst_thread *thread, struct kmp_task *task, bool wanted,
                         const struct cst_depend_list *depend) {
    struct kmp_head *head = cst_kmp_head(task);
    if (cst_likely(is_plain(head->flags) && wanted && !depend)) {
        cst_task_submit(thread, head->record, &plain);
        return;
    }
    struct cst_task_request request = request_for(head->flags);
    request.deferrable = wanted;
    request.priority = priority_of(head, task);
    request.depend = depend;
    cst_task_submit(thread, head->record, &request);
}

/* --- dependences --------------------------------------------------------------------------- */

/* The compiler passes two lists. It promises that the addresses of the second differ. */
struct depend {
    struct cst_depend_list core; /* first, so that pointers to both are equal */
    size_t count;
    const struct kmp_depend *list, *more;
};

static struct cst_depend_item item_at(const struct cst_depend_list *core, size_t index) {
    const struct depend *all = (const struct depend *)core;
    const struct kmp_depend *raw =
        index < all->count ? &all->list[index] : &all->more[index - all->count];
    struct cst_depend_item item = {.address = (void *)raw->address, .kind = CST_DEPEND_OUT};
    uint8_t flags = raw->flags & ~KMP_DEPEND_ALL;
    if (flags == KMP_DEPEND_IN) item.kind = CST_DEPEND_IN;
    if (flags == KMP_DEPEND_INOUTSET) item.kind = CST_DEPEND_INOUTSET;
    if (raw->flags & KMP_DEPEND_ALL || raw->address == KMP_DEPEND_ALL_ADDRESS)
        item = (struct cst_depend_item){.kind = CST_DEPEND_OUT}; /* all memory */
    return item;
}

static struct depend depend_of(int32_t count, const struct kmp_depend *list, int32_t more,
                               const struct kmp_depend *other) {
    if (count < 0 || !list) count = 0;
    if (more < 0 || !other) more = 0;
    return (struct depend){.core = {.count = (size_t)count + (size_t)more, .other = item_at},
                           .count = (size_t)count,
                           .list = list,
                           .more = other};
}

/* --- the calls ----------------------------------------------------------------------------- */

CST_FLAT struct kmp_task *__kmpc_omp_task_alloc(kmp_loc *loc, int32_t thread, int32_t flags,
                                                size_t size, size_t shareds, kmp_routine *routine) {
    (void)thread;
    cst_kmp_note(loc);
    return cst_kmp_task_make(flags, size, shareds, routine);
}

/* The host is the only device, so a target task is a plain task. */
struct kmp_task *__kmpc_omp_target_task_alloc(kmp_loc *loc, int32_t thread, int32_t flags,
                                              size_t size, size_t shareds, kmp_routine *routine,
                                              int64_t device) {
    (void)device;
    return __kmpc_omp_task_alloc(loc, thread, flags, size, shareds, routine);
}

/* libomptarget asks whether it may return from a target task before the device has ended, and put
 * the task into the queue again. It may not, so it waits. */
bool __kmpc_omp_has_task_team(int32_t thread) {
    (void)thread;
    return false;
}
void **__kmpc_omp_get_target_async_handle_ptr(int32_t thread) {
    (void)thread;
    return NULL;
}

CST_FLAT int32_t __kmpc_omp_task(kmp_loc *loc, int32_t thread, struct kmp_task *task) {
    (void)thread;
    cst_kmp_note(loc);
    struct kmp_head *head = cst_kmp_head(task);
    if (cst_unlikely(head->runs))
        head->continues = true;
    else
        cst_kmp_task_submit(cst_self(), task, true, NULL);
    return 0;
}

int32_t __kmpc_omp_task_parts(kmp_loc *loc, int32_t thread, struct kmp_task *task) {
    return __kmpc_omp_task(loc, thread, task);
}

int32_t __kmpc_omp_task_with_deps(kmp_loc *loc, int32_t thread, struct kmp_task *task,
                                  int32_t count, struct kmp_depend *list, int32_t more,
                                  struct kmp_depend *other) {
    (void)thread;
    cst_kmp_note(loc);
    struct depend depend = depend_of(count, list, more, other);
    cst_kmp_task_submit(cst_self(), task, true, depend.core.count ? &depend.core : NULL);
    return 0;
}

void __kmpc_omp_task_begin_if0(kmp_loc *loc, int32_t thread, struct kmp_task *task) {
    (void)thread;
    cst_kmp_note(loc);
    struct kmp_head *head = cst_kmp_head(task);
    head->runs = true;
    cst_task_begin(cst_self(), head->record);
}

void __kmpc_omp_task_complete_if0(kmp_loc *loc, int32_t thread, struct kmp_task *task) {
    (void)loc;
    struct kmp_head *head = cst_kmp_head(task);
    if (cst_unlikely(head->continues)) call(head, task, thread);
    destroy(task, thread);
    cst_task_end(cst_self(), cst_kmp_head(task)->record);
}

void __kmpc_omp_wait_deps(kmp_loc *loc, int32_t thread, int32_t count, struct kmp_depend *list,
                          int32_t more, struct kmp_depend *other) {
    (void)thread;
    cst_kmp_note(loc);
    struct depend depend = depend_of(count, list, more, other);
    if (depend.core.count) cst_task_wait_depend(cst_self(), &depend.core);
}

static void nothing(void *data) {
    (void)data;
}

void __kmpc_omp_taskwait_deps_51(kmp_loc *loc, int32_t thread, int32_t count,
                                 struct kmp_depend *list, int32_t more, struct kmp_depend *other,
                                 int32_t nowait) {
    if (!nowait) {
        __kmpc_omp_wait_deps(loc, thread, count, list, more, other);
        return;
    }
    cst_kmp_note(loc);
    struct depend depend = depend_of(count, list, more, other);
    struct cst_task_request request = {
        .function = nothing, .deferrable = true, .depend = &depend.core};
    if (depend.core.count) cst_task_create(cst_self(), &request);
}

int32_t __kmpc_omp_taskwait(kmp_loc *loc, int32_t thread) {
    (void)thread;
    cst_kmp_note(loc);
    cst_task_wait_children(cst_self());
    return 0;
}

int32_t __kmpc_omp_taskyield(kmp_loc *loc, int32_t thread, int end) {
    (void)loc, (void)thread, (void)end;
    cst_task_yield(cst_self());
    return 0;
}

/* A task's number is its address, which no other task has at the same time. 0: there is no such
 * task. */
uint64_t __kmpc_get_taskid(void) {
    return (uintptr_t)cst_ask_task(0);
}

uint64_t __kmpc_get_parent_taskid(void) {
    return (uintptr_t)cst_ask_task(1);
}

void cst_kmp_group_begin(struct cst_thread *thread) {
    cst_group_begin(thread, cst_memory_get("a taskgroup", sizeof(struct cst_group)));
}

void cst_kmp_group_end(void) {
    struct cst_group *group = cst_group_end(cst_self());
    cst_kmp_reductions_end(cst_reduce_detach(group), true);
    free(group);
}

void __kmpc_taskgroup(kmp_loc *loc, int32_t thread) {
    (void)thread;
    cst_kmp_note(loc);
    cst_kmp_group_begin(cst_self());
}

void __kmpc_end_taskgroup(kmp_loc *loc, int32_t thread) {
    (void)thread;
    cst_kmp_note(loc);
    cst_kmp_group_end();
}

/* The event is the task's record, for omp_fulfill_event. */
void *__kmpc_task_allow_completion_event(kmp_loc *loc, int32_t thread, struct kmp_task *task) {
    (void)loc, (void)thread;
    return cst_kmp_head(task)->record;
}

void __kmpc_proxy_task_completed_ooo(struct kmp_task *task) {
    cst_task_fulfill(cst_kmp_head(task)->record);
}

void __kmpc_proxy_task_completed(int32_t thread, struct kmp_task *task) {
    (void)thread;
    __kmpc_proxy_task_completed_ooo(task);
}

/* The hint may have no effect. */
int32_t __kmpc_omp_reg_task_with_affinity(kmp_loc *loc, int32_t thread, struct kmp_task *task,
                                          int32_t count, void *list) {
    (void)loc, (void)thread, (void)task, (void)count, (void)list;
    return 0;
}
