/* The slow parts of the work-stealing deque; see deque.h. */
#include "core/base/deque.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

bool cst_deque_grow(struct cst_deque *deque) {
    struct cst_deque_buffer *old = cst_load_relaxed(&deque->buffer);
    int64_t capacity = old ? 2 * (old->mask + 1) : FIRST_CAPACITY;
    /* Zeroed: a late thief, whose entry was taken before, finds NULL there (cst_deque_steal). */
    struct cst_deque_buffer *new = calloc(1, sizeof *new + (size_t)capacity * sizeof new->entry[0]);
    if (!new) return false;
    new->mask = capacity - 1;
    new->retired = old;
    /* Relaxed: with an older top the owner copies some more entries. */
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
    /* Relaxed: top only grows, so an older value only means that the owner looks again below. */
    if (bottom < floor || bottom < cst_load_relaxed(&deque->top)) return NULL;
    struct cst_deque_buffer *buffer = cst_load_relaxed(&deque->buffer);
    /* The owner stores bottom before it loads top; a thief loads top before it loads bottom. All
     * are sequentially consistent, so one of the two sees the other. */
    cst_store_seq_cst(&deque->bottom, bottom);
    int64_t top = cst_load_seq_cst(&deque->top);
    struct cst_task *task = cst_load_relaxed(&buffer->entry[bottom & buffer->mask]);
    if (top < bottom) return task;
    if (top == bottom) {
        /* This is the last task, and a thief may want it. Release: a thief that sees the new top
         * also sees the bottom above, and not an older one that promises more entries. */
        if (!cst_cas_release(&deque->top, &top, top + 1)) task = NULL;
    } else {
        task = NULL;
    }
    /* Release, as in a push: a thief with an older top may read this bottom. It then reads the
     * entry and its task before its compare-and-swap fails. */
    cst_store_release(&deque->bottom, bottom + 1);
    return task;
}

struct cst_task *cst_deque_steal(struct cst_deque *deque, cst_deque_permit *permit,
                                 const void *argument, bool *lost) {
    int64_t top = cst_load_seq_cst(&deque->top);
    int64_t bottom = cst_load_seq_cst(&deque->bottom);
    if (top >= bottom) return NULL;
    /* Meanwhile another thread may take the task, and the owner may reuse its entry. The owner may
     * also copy the entries from a later top on into a larger buffer, where this entry is NULL. */
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
    /* Thieves only raise top, and leave their entries unchanged. */
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
