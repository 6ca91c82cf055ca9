/* A member's deque of ready tasks: Chase and Lev, "Dynamic circular work-stealing deque" (SPAA
 * 2005), with the memory orders of Lê, Pop, Cohen and Zappa Nardelli (PPoPP 2013).
 *
 * The owner pushes and takes at the bottom, thieves steal at the top. Indices only grow, so an
 * index names one push for ever; a thief's compare-and-swap on `top` therefore proves that the
 * task it looked at had not been taken before. */
#ifndef CST_CORE_BASE_DEQUE_H
#define CST_CORE_BASE_DEQUE_H

#include "platform/atomic.h"
#include "platform/check.h"

#include <stddef.h>

struct cst_task;

struct cst_deque_buffer {
    int64_t mask;                     /* capacity - 1 */
    struct cst_deque_buffer *retired; /* smaller predecessor; a slow thief may still read it */
    _Atomic(struct cst_task *) entry[];
};

struct cst_deque {
    CST_LINE_ALIGNED _Atomic int64_t top;    /* thieves; the owner when one entry is left */
    _Atomic uint32_t heirs;                  /* a hint: members to have the entries */
    CST_LINE_ALIGNED _Atomic int64_t bottom; /* owner */
    int64_t top_seen; /* owner: `top` as last read, so that a push need not fetch its line */
    _Atomic(struct cst_deque_buffer *) buffer; /* owner; NULL until the first push */
};

/* Doubles the buffer, or makes the first one. False when memory is exhausted. */
bool cst_deque_grow(struct cst_deque *deque);

/* Owner, in builds with all checks (check.h): fails unless the deque is consistent. Reads each
 * entry. */
#if CST_CHECK_LEVEL >= 2
void cst_deque_validate(struct cst_deque *deque);
#else
static inline void cst_deque_validate(struct cst_deque *deque) {
    (void)deque;
}
#endif

/* Owner: are there at least `limit` entries? Reads the thieves' end only if the answer depends on
 * it. */
static inline bool cst_deque_holds(struct cst_deque *deque, int64_t limit) {
    int64_t bottom = cst_load_relaxed(&deque->bottom);
    if (bottom - deque->top_seen < limit) return false;
    /* Acquire: a thief is done with the entries below `top`, which may now be overwritten. */
    deque->top_seen = cst_load_acquire(&deque->top);
    return bottom - deque->top_seen >= limit;
}

/* Owner: adds a task. False when memory is exhausted; the deque is unchanged. */
static inline bool cst_deque_push(struct cst_deque *deque, struct cst_task *task) {
    struct cst_deque_buffer *buffer = cst_load_relaxed(&deque->buffer);
    if (__builtin_expect(!buffer || cst_deque_holds(deque, buffer->mask + 1), 0)) {
        if (!cst_deque_grow(deque)) return false;
        buffer = cst_load_relaxed(&deque->buffer);
    }
    int64_t bottom = cst_load_relaxed(&deque->bottom);
    /* Pairs with the thief's acquire of the entry. A late thief may find this task in the place of
     * an older one; it then reads a task that is set up. */
    cst_store_release(&buffer->entry[bottom & buffer->mask], task);
    /* Pairs with the thief's acquire of bottom: it sees the entry and the task behind it. */
    cst_store_release(&deque->bottom, bottom + 1);
    return true;
}

/* Owner: takes the newest task whose index is at least `floor`, or NULL. */
struct cst_task *cst_deque_take(struct cst_deque *deque, int64_t floor);

/* Is there nothing to steal? A racy answer. */
static inline bool cst_deque_is_empty(struct cst_deque *deque) {
    return cst_load_relaxed(&deque->top) >= cst_load_relaxed(&deque->bottom);
}

/* May the thief have this task? A thief asks before it steals. Another thread may take the task at
 * any moment, so the answer counts only if the steal then succeeds. Reading the task is safe,
 * because memory of tasks is never unmapped while a deque exists (slab.h). A late thief may read a
 * task that was pushed later into the same entry, but it always reads a task that was pushed. */
typedef bool cst_deque_permit(const struct cst_task *task, const void *argument);

/* Thief: steals the oldest task if `permit` (NULL: always) agrees; NULL when there is none, when
 * it was not permitted, or when another thread was faster (then *lost is set). */
struct cst_task *cst_deque_steal(struct cst_deque *deque, cst_deque_permit *permit,
                                 const void *argument, bool *lost);

#endif
