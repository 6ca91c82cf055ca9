/* The slow parts of the work-stealing deque; see deque.h. */
#include "core/base/deque.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

bool cst_deque_grow(struct cst_deque *deque) {
    struct cst_deque_buffer *old = cst_load_relaxed(&deque->buffer);
    int64_t capacity = old ? 2 * (old->mask + 1) : FIRST_CAPACITY;
    /* Zero: a late thief, whose entry was taken before, finds nothing there (steal). */
    struct cst_deque_buffer *new = calloc(1, sizeof *new + (size_t)capacity * sizeof new->entry[0]);
    if (!new) return false;
    new->mask = capacity - 1;
    new->retired = old;
    /* Relaxed: an older top means some more to copy. */
    int64_t top = cst_load_relaxed(&deque->top);
    int64_t bottom = cst_load_relaxed(&deque->bottom);
    if (old)
        for (int64_t i = top; i < bottom; i++)
            cst_store_relaxed(&new->entry[i & new->mask],
                              cst_load_relaxed(&old->entry[i & old->mask]));
    /* Pairs with the thief's acquire of buffer: it sees the copied entries. */
    cst_store_release(&deque->buffer, new);
    cst_deque_validate(deque);
    return true;
}

struct cst_task *cst_deque_take(struct cst_deque *deque, int64_t floor) {
    int64_t bottom = cst_load_relaxed(&deque->bottom) - 1;
    /* Relaxed: top only grows, so an older one means a harder look below. */
    if (bottom < floor || bottom < cst_load_relaxed(&deque->top)) return NULL;
    struct cst_deque_buffer *buffer = cst_load_relaxed(&deque->buffer);
    /* Store of bottom before load of top, against the thief's load of top before load of
     * bottom: one of the two sees the other (both sequentially consistent). */
    cst_store_seq_cst(&deque->bottom, bottom);
    int64_t top = cst_load_seq_cst(&deque->top);
    struct cst_task *task = cst_load_relaxed(&buffer->entry[bottom & buffer->mask]);
    if (top < bottom) return task;
    if (top == bottom) {
        /* The last one: a thief may be after it. Release: a thief that sees it taken sees the
         * bottom above, too, and no older one behind which there are entries still. */
        if (!cst_cas_release(&deque->top, &top, top + 1)) task = NULL;
    } else {
        task = NULL;
    }
    /* Release, as in a push: a thief that has an older top, and reads this bottom, looks at the
     * entry and at the task behind it before its compare-and-swap fails. */
    cst_store_release(&deque->bottom, bottom + 1);
    return task;
}

struct cst_task *cst_deque_steal(struct cst_deque *deque, cst_deque_permit *permit,
                                 const void *argument, bool *lost) {
    int64_t top = cst_load_seq_cst(&deque->top);
    int64_t bottom = cst_load_seq_cst(&deque->bottom);
    if (top >= bottom) return NULL;
    /* Meanwhile the task may be taken, its entry used again, and the entries from a later top on
     * copied into a larger buffer, where this one is NULL. */
    struct cst_deque_buffer *buffer = cst_load_acquire(&deque->buffer);
    struct cst_task *task = cst_load_acquire(&buffer->entry[top & buffer->mask]);
    if (task && permit && !permit(task, argument)) return NULL;
    if (!cst_cas_seq_cst(&deque->top, &top, top + 1)) {
        *lost = true;
        return NULL;
    }
    return task;
}

#if CST_CHECK_LEVEL >= 2
static void validate_buffers(const struct cst_deque_buffer *buffer) {
    cst_check((buffer->mask & (buffer->mask + 1)) == 0);
    for (; buffer->retired; buffer = buffer->retired)
        cst_check(buffer->retired->mask + 1 == (buffer->mask + 1) / 2);
    cst_check(buffer->mask + 1 == FIRST_CAPACITY);
}

void cst_deque_validate(struct cst_deque *deque) {
    struct cst_deque_buffer *buffer = cst_load_relaxed(&deque->buffer);
    int64_t bottom = cst_load_relaxed(&deque->bottom);
    /* Thieves only raise it, and leave their entries as they are. */
    int64_t top = cst_load_acquire(&deque->top);
    cst_check(0 <= deque->top_seen && deque->top_seen <= top && top <= bottom);
    if (!buffer) {
        cst_check(bottom == 0);
        return;
    }
    validate_buffers(buffer);
    cst_check(bottom - top <= buffer->mask + 1);
    for (int64_t i = top; i < bottom; i++)
        cst_check(cst_load_relaxed(&buffer->entry[i & buffer->mask]) != NULL);
}
#endif
