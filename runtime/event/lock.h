/* A small mutex for the event layer: one word, sleeps in the kernel when contended.
 *
 * The three-state lock of Drepper, "Futexes Are Tricky" (2011): 0 free, 1 held, 2 held and a thread
 * may sleep. Critical sections here are short, so a waiter spins a little first.
 *
 * A load and a store release the lock, instead of Drepper's exchange, which would be a quarter of a
 * timer's cost. The store may overwrite the 2 of a waiter that comes between the two. If the waiter
 * does not sleep yet, the kernel finds 0 and returns. If it sleeps, no thread wakes it, and it
 * wakes by itself after CST_EVENT_LOCK_SLEEP_NS. Mutual exclusion holds in any case: only an
 * exchange or a compare-and-swap that finds 0 acquires the lock. */
#ifndef CST_EVENT_LOCK_H
#define CST_EVENT_LOCK_H

#include "platform/platform.h"

struct cst_event_lock {
    _Atomic uint32_t word;
};

enum { CST_EVENT_LOCK_SPINS = 100, CST_EVENT_LOCK_SLEEP_NS = 1000000 };

static inline void cst_event_lock_slow(struct cst_event_lock *lock) {
    for (int i = 0; i < CST_EVENT_LOCK_SPINS; i++) {
        uint32_t free = 0;
        /* Relaxed: a hint; the exchange below acquires. */
        if (cst_load_relaxed(&lock->word) == 0 && cst_cas_acquire(&lock->word, &free, 1)) return;
        cst_cpu_relax();
    }
    /* Acquires; pairs with the release in unlock. */
    while (cst_exchange_acquire(&lock->word, 2) != 0)
        cst_futex_wait_for(&lock->word, 2, CST_EVENT_LOCK_SLEEP_NS);
}

static inline void cst_event_acquire(struct cst_event_lock *lock) {
    uint32_t free = 0;
    /* Acquires; pairs with the release in unlock. */
    if (__builtin_expect(!cst_cas_acquire(&lock->word, &free, 1), 0)) cst_event_lock_slow(lock);
}

static inline void cst_event_release(struct cst_event_lock *lock) {
    if (__builtin_expect(cst_load_relaxed(&lock->word) == 2, 0)) { /* see above */
        /* Releases the writes under the lock; pairs with the next owner's acquire. */
        cst_exchange_release(&lock->word, 0);
        cst_futex_wake(&lock->word, 1);
    } else {
        cst_store_release(&lock->word, 0); /* the same */
    }
}

#endif
