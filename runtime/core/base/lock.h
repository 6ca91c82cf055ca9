/* Mutual exclusion in four bytes: user locks, critical, atomic, and the runtime's own needs.
 *
 * The word is the whole lock, since a program's omp_lock_t and the pointer slot of a named critical
 * have no room for more. Zero is a free lock, so static memory needs no initialization. States,
 * after Drepper, "Futexes are tricky", third mutex:
 *
 *   0 free   1 held   2 held, and a thread may sleep
 *
 * The lock is unfair: a thread that releases and acquires again may overtake waiting threads, which
 * keeps the protected data in its cache. A thread that waits long sleeps, and the next release
 * wakes it.
 *
 * Any thread may call, also a thread that OpenMP does not know. The thread that releases need not
 * be the thread that acquired. */
#ifndef CST_CORE_BASE_LOCK_H
#define CST_CORE_BASE_LOCK_H

#include "platform/atomic.h"
#include "platform/check.h"
#include "platform/happens.h"

typedef _Atomic uint32_t cst_lock;

enum { CST_LOCK_FREE = 0, CST_LOCK_HELD = 1, CST_LOCK_CONTENDED = 2 };

/* The slow parts. May block. */
void cst_lock_wait(cst_lock *lock);
void cst_lock_wake(cst_lock *lock);
/* The rest of an acquire that did not get the lock at once, or of which the sanitizer is told; and
 * a release of which it is told. Nothing that needs a register follows them, so the usual way
 * through a construct saves none: a critical construct takes 4.9 ns, and took 5.7. */
void cst_lock_acquire_rest(cst_lock *lock, bool got);
void cst_lock_release_told(cst_lock *lock);

/* The caller did not get a lock, and is likely to try again until the holder releases it. The
 * holder may need the Capability that the caller keeps, so the Capability is given back. */
void cst_lock_missed(void);

/* The word alone: the sanitizer is not told of these two. The take does not block. */
static inline bool cst_lock_take(cst_lock *lock) {
    uint32_t expected = CST_LOCK_FREE;
    /* Acquire pairs with the last holder's release: the holder's writes are seen. */
    return cst_cas_acquire(lock, &expected, CST_LOCK_HELD);
}

/* Does not block. The lock's memory is not read after the exchange, as the next holder may free it.
 * The wake-up uses the address alone, and futex(2) allows a stray wake-up. */
static inline void cst_lock_give(cst_lock *lock) {
    /* The release order publishes the critical section to the next holder's acquire. The operation
     * is an exchange and not a store, because the same step must tell whether a thread sleeps. */
    if (cst_unlikely(cst_exchange_release(lock, CST_LOCK_FREE) == CST_LOCK_CONTENDED))
        cst_lock_wake(lock);
}

/* Never blocks. */
static inline bool cst_lock_try(cst_lock *lock) {
    bool got = cst_lock_take(lock);
    if (got) cst_happens_after(lock);
    return got;
}

/* May block. */
static inline void cst_lock_acquire(cst_lock *lock) {
    bool got = cst_lock_take(lock);
    if (cst_likely(got && !cst_happens_is_told())) return;
    cst_lock_acquire_rest(lock, got);
    CST_KEEP_CALL();
}

/* Does not block. */
static inline void cst_lock_release(cst_lock *lock) {
    if (cst_happens_is_told())
        cst_lock_release_told(lock);
    else
        cst_lock_give(lock);
}

/* A lock that its owner may acquire again. The owner is a task, as OpenMP 5.2 section 18.9 demands;
 * its handle is compared and never followed. Zero is a free lock. */
struct cst_nest_lock {
    cst_lock lock;
    uint32_t count;        /* the holder's */
    _Atomic(void *) owner; /* written by the holder; NULL when free */
};

/* Relaxed suffices. If the caller reads its own handle, the caller wrote it; every other value
 * leads to the same step. */
static inline bool cst_nest_lock_owned(struct cst_nest_lock *nest, void *owner) {
    return cst_load_relaxed(&nest->owner) == owner;
}

/* Both return the new nesting count. May block. */
static inline uint32_t cst_nest_lock_acquire(struct cst_nest_lock *nest, void *owner) {
    if (!cst_nest_lock_owned(nest, owner)) {
        cst_lock_acquire(&nest->lock);
        cst_store_relaxed(&nest->owner, owner);
    }
    return ++nest->count;
}

/* As cst_nest_lock_acquire, but returns 0 at once when another owner holds the lock. Never
 * blocks. */
static inline uint32_t cst_nest_lock_try(struct cst_nest_lock *nest, void *owner) {
    if (!cst_nest_lock_owned(nest, owner)) {
        if (!cst_lock_try(&nest->lock)) return 0;
        cst_store_relaxed(&nest->owner, owner);
    }
    return ++nest->count;
}

static inline void cst_nest_lock_release(struct cst_nest_lock *nest) {
    if (--nest->count > 0) return;
    cst_store_relaxed(&nest->owner, NULL); /* before the release: no stale owner is ever seen */
    cst_lock_release(&nest->lock);
}

#endif
