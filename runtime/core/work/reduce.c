/* Task reductions; see reduce.h. */
#include "core/work/reduce.h"

#include "core/work/barrier.h"
#include "core/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uintptr_t *next_of(uintptr_t *data) {
    return (uintptr_t *)data[CST_REDUCE_NEXT];
}

static void allocate_one(uintptr_t *data, uint32_t members) {
    size_t alignment = data[CST_REDUCE_MEMORY], size, rounded;
    if (alignment < CST_CACHE_LINE) alignment = CST_CACHE_LINE;
    if (__builtin_mul_overflow(data[CST_REDUCE_SIZE], members, &size) ||
        __builtin_add_overflow(size, alignment - 1, &rounded))
        cst_memory_exhausted("a task reduction", SIZE_MAX);
    rounded &= ~(alignment - 1);
    void *memory = aligned_alloc(alignment, rounded ? rounded : alignment);
    if (!memory) cst_memory_exhausted("a task reduction", rounded);
    memset(memory, 0, size);
    data[CST_REDUCE_MEMORY] = (uintptr_t)memory;
    data[CST_REDUCE_END] = (uintptr_t)memory + size;
}

/* Walks the registration's own chain; `first`, if given, is walked beside it. */
static void chain(uintptr_t *data, uintptr_t *outer, uintptr_t *first, uint32_t members) {
    uintptr_t *head = data;
    for (;;) {
        data[CST_REDUCE_HEAD] = data == head;
        if (first) {
            data[CST_REDUCE_MEMORY] = first[CST_REDUCE_MEMORY];
            data[CST_REDUCE_END] = first[CST_REDUCE_END];
            first = next_of(first);
        } else {
            allocate_one(data, members);
        }
        if (!data[CST_REDUCE_NEXT]) break;
        data = next_of(data);
    }
    data[CST_REDUCE_NEXT] = (uintptr_t)outer;
}

void cst_reduce_allocate(uintptr_t *data, uintptr_t *outer, uint32_t members) {
    chain(data, outer, NULL, members);
}

void cst_reduce_register(struct cst_thread *thread, uintptr_t *data, uintptr_t *first) {
    struct cst_group *group = thread->task->open_group;
    chain(data, group->reductions, first, thread->team->size);
    group->reductions = data;
}

void cst_reduce_free(uintptr_t *data) {
    do {
        free((void *)data[CST_REDUCE_MEMORY]);
        data = next_of(data);
    } while (data && !data[CST_REDUCE_HEAD]);
}

void cst_reduce_begin_construct(struct cst_thread *thread) {
    struct cst_group *group = malloc(sizeof *group);
    if (!group) cst_memory_exhausted("a task reduction", sizeof *group);
    cst_group_begin(thread, group);
    group->workshare = true;
}

void cst_reduce_end_construct(struct cst_thread *thread, bool cancelled) {
    struct cst_group *group = thread->task->open_group;
    uintptr_t *data = group->reductions;
    cst_group_end(thread);
    free(group);
    thread = cst_self();
    if (thread->number == 0) cst_reduce_free(data);
    if (!cancelled) cst_barrier(thread);
}

/* The description that has `address`, as an original or among the copies; its offset in a
 * member's copy in *offset. */
static uintptr_t *find(uintptr_t *data, uintptr_t address, uintptr_t *offset) {
    for (uintptr_t *d = data; d; d = next_of(d))
        for (size_t i = 0; i < d[CST_REDUCE_COUNT]; i++) {
            uintptr_t *variable = d + CST_REDUCE_FIRST + i * CST_REDUCE_STRIDE;
            if (variable[0] != address) continue;
            *offset = variable[1];
            return d;
        }
    for (uintptr_t *d = data; d; d = next_of(d))
        if (address >= d[CST_REDUCE_MEMORY] && address < d[CST_REDUCE_END]) {
            *offset = (address - d[CST_REDUCE_MEMORY]) % d[CST_REDUCE_SIZE];
            return d;
        }
    return NULL;
}

static _Noreturn void not_found(uintptr_t address) {
    cst_message_libgomp_fatal("couldn't find matching task_reduction or reduction with task "
                              "modifier for %p",
                              (void *)address);
}

static uintptr_t original_at(uintptr_t *data, uintptr_t offset, uintptr_t address) {
    for (size_t i = 0; i < data[CST_REDUCE_COUNT]; i++) {
        uintptr_t *variable = data + CST_REDUCE_FIRST + i * CST_REDUCE_STRIDE;
        if (variable[1] == offset) return variable[0];
    }
    not_found(address);
}

void cst_reduce_remap(struct cst_thread *thread, size_t count, size_t originals, void **address) {
    struct cst_group *group = thread->task->open_group;
    for (size_t i = 0; i < count; i++) {
        uintptr_t offset, old = (uintptr_t)address[i];
        uintptr_t *data = group ? find(group->reductions, old, &offset) : NULL;
        if (!data) not_found(old);
        if (i < originals) address[count + i] = (void *)original_at(data, offset, old);
        address[i] =
            (void *)(data[CST_REDUCE_MEMORY] + thread->number * data[CST_REDUCE_SIZE] + offset);
    }
}
