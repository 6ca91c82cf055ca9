/* Task reductions; see reduce.h. */
#include "core/work/reduce.h"

#include "core/base/memory.h"
#include "core/work/share.h"

#include <stdlib.h>
#include <string.h>

static void allocate_one(struct cst_reduction *reduction, uint32_t members) {
    size_t alignment = reduction->alignment, size, rounded;
    if (alignment < CST_CACHE_LINE) alignment = CST_CACHE_LINE;
    if (__builtin_mul_overflow(reduction->bytes, members, &size) ||
        __builtin_add_overflow(size, alignment - 1, &rounded))
        cst_memory_exhausted("a task reduction", SIZE_MAX);
    rounded &= ~(alignment - 1);
    char *copies = aligned_alloc(alignment, rounded ? rounded : alignment);
    if (!copies) cst_memory_exhausted("a task reduction", rounded);
    memset(copies, 0, size);
    for (uint32_t i = 0; reduction->initialise && i < members; i++)
        reduction->initialise(copies + i * reduction->bytes);
    reduction->copies = copies;
    reduction->members = members;
}

void cst_reduce_allocate(struct cst_reduction *list, uint32_t members) {
    for (; list; list = list->outer) allocate_one(list, members);
}

/* Puts the list in front of the current group's lists. */
static void attach(struct cst_thread *thread, struct cst_reduction *list) {
    struct cst_group *group = thread->task->open_group;
    struct cst_reduction **end = &list;
    while (*end) end = &(*end)->outer;
    *end = group->reductions;
    group->reductions = list;
}

void cst_reduce_register(struct cst_thread *thread, struct cst_reduction *list) {
    cst_reduce_allocate(list, thread->team->size);
    attach(thread, list);
}

/* The first member notes the copies in the slot's own memory. A member's lists may be gone before
 * another member comes, if it has left a cancelled construct. */
void cst_reduce_register_shared(struct cst_thread *thread, struct cst_share *share,
                                struct cst_reduction *list, bool first) {
    size_t count = 0;
    for (struct cst_reduction *each = list; each; each = each->outer) count++;
    if (first) {
        cst_reduce_allocate(list, thread->team->size);
        cst_share_clear(thread, &share->copies, count * sizeof(char *));
    }
    char **noted = share->copies.start;
    for (struct cst_reduction *each = list; each; each = each->outer, noted++) {
        if (first) *noted = each->copies;
        each->copies = *noted;
        each->members = thread->team->size;
    }
    attach(thread, list);
}

struct cst_reduction *cst_reduce_list(struct cst_thread *thread) {
    struct cst_group *group = thread->task->open_group;
    return group ? group->reductions : NULL;
}

void *cst_reduce_copy(const struct cst_thread *thread, const struct cst_reduction *reduction) {
    return reduction->copies + thread->number * reduction->bytes;
}

bool cst_reduce_holds(const struct cst_reduction *reduction, const void *address, size_t *offset) {
    uintptr_t at = (uintptr_t)address, start = (uintptr_t)reduction->copies;
    if (at < start || at - start >= reduction->bytes * reduction->members) return false;
    *offset = (at - start) % reduction->bytes;
    return true;
}

void cst_reduce_combine(const struct cst_reduction *reduction) {
    for (uint32_t i = 0; i < reduction->members; i++)
        reduction->combine(reduction->original, reduction->copies + i * reduction->bytes);
}

void cst_reduce_free(struct cst_reduction *reduction) {
    free(reduction->copies);
    reduction->copies = NULL;
}

struct cst_reduction *cst_reduce_detach(struct cst_group *group) {
    struct cst_reduction *outer = group->enclosing ? group->enclosing->reductions : NULL;
    struct cst_reduction *list = group->reductions;
    if (list == outer) return NULL;
    struct cst_reduction *last = list;
    while (last->outer != outer) last = last->outer;
    last->outer = NULL;
    group->reductions = outer;
    return list;
}

/* --- in which group ------------------------------------------------------------------------- */

void cst_reduce_begin_construct(struct cst_thread *thread) {
    struct cst_group *group = malloc(sizeof *group);
    if (!group) cst_memory_exhausted("a task reduction", sizeof *group);
    cst_group_begin(thread, group);
    group->workshare = true;
}

struct cst_reduction *cst_reduce_end_construct(struct cst_thread *thread) {
    struct cst_group *group = cst_group_end(thread);
    struct cst_reduction *list = cst_reduce_detach(group);
    free(group);
    return list;
}

void cst_reduce_begin_scope(struct cst_thread *thread, struct cst_reduction *list) {
    struct cst_share *share;
    cst_reduce_begin_construct(thread);
    if (cst_share_enter(thread, &share) || !cst_share_await(thread, share)) {
        cst_reduce_register_shared(thread, share, list, true);
        cst_share_publish(thread, share);
    } else {
        cst_reduce_register_shared(thread, share, list, false);
    }
    cst_share_leave(thread);
}

void cst_reduce_begin_region(struct cst_thread *thread, struct cst_group *group,
                             struct cst_reduction *list) {
    *group = (struct cst_group){.seat = thread->seat, .reductions = list};
    cst_reduce_allocate(list, thread->team->size);
    thread->team->group = group;
    thread->task->open_group = group;
}
