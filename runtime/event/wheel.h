/* Timers: a hierarchical timing wheel (Varghese and Lauck, 1987, scheme 6 with exact cascades).
 *
 * Insert, cancel, reschedule and expire take constant time at any number of timers. Time is in
 * nanoseconds, in ticks of 2^16 ns. Eight levels of 64 slots cover all 64 bits, so there is no
 * overflow list. A timer fires at the first tick boundary that is not before its deadline. So it is
 * never early, and late by less than one tick (65 536 ns) plus the time until the driver calls
 * cst_wheel_advance.
 *
 * The slot of a timer: the highest group of six bits in which the timer's tick and the present tick
 * differ gives the level. Those six bits of the timer's tick give the slot. So each level holds
 * only slots of the present block, and the lowest level that is not empty holds the earliest timer.
 * The cost of a jump of the clock does not depend on its length.
 *
 * A timer that is moved to a later deadline stays in its slot, and is placed again when the slot
 * comes up. So an idle timeout that every message moves costs one store.
 *
 * Nodes are intrusive. The wheel takes no lock; its owner must. */
#ifndef CST_EVENT_WHEEL_H
#define CST_EVENT_WHEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CST_WHEEL_TICK_BITS = 16,
    CST_WHEEL_SLOT_BITS = 6,
    CST_WHEEL_LEVELS = 8,
    CST_WHEEL_SLOTS = 1 << CST_WHEEL_SLOT_BITS,
};

_Static_assert(CST_WHEEL_TICK_BITS + CST_WHEEL_SLOT_BITS * CST_WHEEL_LEVELS == 64,
               "the levels cover every deadline");

struct cst_wheel_link {
    struct cst_wheel_link *next, *previous;
};

struct cst_wheel_node {
    struct cst_wheel_link link; /* next is NULL while the node is in no wheel */
    uint64_t deadline;          /* ns; only the functions below change it */
};

struct cst_wheel_slot {
    struct cst_wheel_link head;
    uint64_t earliest; /* no tick of the slot is before it; valid while it is occupied */
};

struct cst_wheel {
    uint64_t tick;                       /* the present, in ticks */
    uint64_t occupied[CST_WHEEL_LEVELS]; /* bit s: slot s is not empty */
    size_t count;                        /* timers in the wheel, due ones included */
    struct cst_wheel_slot *draining;     /* a slot left half emptied, as the budget ran out */
    struct cst_wheel_link due;           /* expired, not taken yet */
    struct cst_wheel_slot slot[CST_WHEEL_LEVELS * CST_WHEEL_SLOTS];
};

#define CST_WHEEL_NEVER UINT64_MAX

void cst_wheel_init(struct cst_wheel *wheel, uint64_t now);

/* The node must be in no wheel. A deadline that has passed is due at the next advance. */
void cst_wheel_insert(struct cst_wheel *wheel, struct cst_wheel_node *node, uint64_t deadline);

/* The node must be in the wheel, due or not. */
void cst_wheel_cancel(struct cst_wheel *wheel, struct cst_wheel_node *node);
void cst_wheel_reschedule(struct cst_wheel *wheel, struct cst_wheel_node *node, uint64_t deadline);

static inline bool cst_wheel_holds(const struct cst_wheel_node *node) {
    return node->link.next != NULL;
}

/* Moves the present to `now`, and collects expired timers for cst_wheel_take. Handles at most about
 * `budget` timers. True: it stopped for that reason, and must be called again before the present is
 * `now`. If `now` is earlier than the present, the clock has been changed, and every timer is
 * placed anew. A timer that is not due any more then waits again. */
bool cst_wheel_advance(struct cst_wheel *wheel, uint64_t now, size_t budget);

/* Removes one expired timer, in the order of ticks; NULL when there is none. */
struct cst_wheel_node *cst_wheel_take(struct cst_wheel *wheel);

/* The next time at which cst_wheel_advance has work; 0: at once; CST_WHEEL_NEVER: the wheel is
 * empty. It may be early if a timer was moved or cancelled, but is never late. */
uint64_t cst_wheel_next(const struct cst_wheel *wheel);

/* Walks the whole wheel, and aborts if an invariant is broken. For tests. */
void cst_wheel_validate(const struct cst_wheel *wheel);

#endif
