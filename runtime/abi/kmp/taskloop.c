/* taskloop: clang's calls, decoded. The compiled code makes one task, of which each task of the
 * loop is a copy with bounds of its own. */
#include "abi/kmp/note.h"
#include "abi/kmp/task.h"
#include "abi/whole.h"

#include <string.h>

CST_WHOLE(kmp_taskloop);

/* The loop, and where in a task its bounds stand. */
struct taskloop {
    struct kmp_task *pattern;
    size_t lower_at, upper_at; /* the last iteration is included */
    uint64_t lower, upper, step, trip;
    bool wanted;
    kmp_duplicate *duplicate;
};

static uint64_t *word_at(struct kmp_task *task, size_t at) {
    return (uint64_t *)(void *)((char *)task + at);
}

static struct kmp_task *copy_of(struct kmp_task *pattern) {
    const struct kmp_head *head = cst_kmp_head(pattern);
    size_t begin = head->shareds, behind = begin ? head->size - begin : 0;
    struct kmp_task *task = cst_kmp_task_make(head->flags, head->size - behind, behind, NULL);
    void *shareds = task->shareds;
    memcpy(task, pattern, head->size);
    if (shareds) task->shareds = shareds;
    return task;
}

/* Makes the task of iterations [first, end). */
static void make_task(const struct taskloop *loop, uint64_t first, uint64_t end) {
    struct kmp_task *task = copy_of(loop->pattern);
    *word_at(task, loop->lower_at) = loop->lower + first * loop->step;
    *word_at(task, loop->upper_at) = loop->lower + (end - 1) * loop->step;
    if (loop->duplicate) loop->duplicate(task, loop->pattern, end == loop->trip);
    cst_kmp_task_submit(cst_self(), task, loop->wanted, NULL);
}

static void make_tasks(const struct taskloop *loop, const struct cst_schedule_cut *cut) {
    uint64_t first = 0;
    for (uint64_t i = 0; i < cut->count; i++) {
        uint64_t size = cut->each + (i < cut->longer);
        if (size > loop->trip - first) size = loop->trip - first;
        make_task(loop, first, first + size);
        first += size;
    }
}

static void run_taskloop(struct taskloop *loop, bool grouped, int32_t schedule, uint64_t grain,
                         bool strict) {
    struct cst_thread *thread = cst_self();
    if (grouped) cst_kmp_group_begin(thread);
    if (loop->trip > 0) {
        enum cst_schedule_cutting how = schedule == KMP_TASKLOOP_GRAINSIZE ? CST_CUT_BY_SIZE
                                        : schedule == KMP_TASKLOOP_TASKS   ? CST_CUT_BY_COUNT
                                                                           : CST_CUT_FREELY;
        struct cst_schedule_cut cut =
            cst_schedule_cut(loop->trip, grain, how, strict, cst_ask_size());
        make_tasks(loop, &cut);
    }
    cst_kmp_task_drop(cst_self(), loop->pattern);
    if (grouped) cst_kmp_group_end();
}

void __kmpc_taskloop_5(kmp_loc *loc, int32_t thread, struct kmp_task *task, int32_t wanted,
                       uint64_t *lower, uint64_t *upper, int64_t step, int32_t nogroup,
                       int32_t schedule, uint64_t grain, int32_t strict, void *duplicate) {
    (void)thread;
    cst_kmp_note(loc);
    struct taskloop loop = {.pattern = task,
                            .lower_at = (size_t)((char *)lower - (char *)task),
                            .upper_at = (size_t)((char *)upper - (char *)task),
                            .lower = *lower,
                            .upper = *upper,
                            .step = (uint64_t)step,
                            .wanted = wanted,
                            .duplicate = (kmp_duplicate *)duplicate};
    /* The call does not say whether the bounds are signed. Compiled code counts from 0 upwards. */
    loop.trip = cst_schedule_trip_closed(loop.lower, loop.upper, loop.step, step > 0, true);
    run_taskloop(&loop, !nogroup, schedule, grain, strict);
}

void __kmpc_taskloop(kmp_loc *loc, int32_t thread, struct kmp_task *task, int32_t wanted,
                     uint64_t *lower, uint64_t *upper, int64_t step, int32_t nogroup,
                     int32_t schedule, uint64_t grain, void *duplicate) {
    __kmpc_taskloop_5(loc, thread, task, wanted, lower, upper, step, nogroup, schedule, grain, 0,
                      duplicate);
}
