/* The slow side of locks; see lock.h. */
#include "core/base/lock.h"

#include "core/wait/policy.h"
#include "core/state/thread.h"
#include "platform/platform.h"

/* A waiter loads the word less and less often, so that the holder can release and acquire many
 * times while it keeps the cache line. Then the waiter sleeps. With shorter pauses, measurements
 * showed, two contending threads hand the line over at every turn. The waiter does not use
 * cst_wait: it may belong to no team, and it waits for one holder. */
static bool spin(cst_lock *lock) {
    if (cst_config.spin_count == 0) return false; /* OMP_WAIT_POLICY=passive */
    if (!cst_heuristic_is_on(CST_HEURISTIC_SPIN)) return false;
    bool forever = cst_config.spin_count > UINT32_MAX; /* active, or GOMP_SPINCOUNT=infinite */
    uint32_t pauses = cst_policy.lock_first_pauses, most = cst_policy.lock_most_pauses;
    for (uint32_t look = 0; look < CST_LOCK_LOOKS || forever; look++) {
        cst_cpu_relax_times(pauses);
        if (pauses < most) pauses *= 2;
        /* Relaxed: a hint whether a try is worth the transfer of the line; the try acquires. */
        if (cst_load_relaxed(lock) == CST_LOCK_FREE && cst_lock_try(lock)) return true;
    }
    return false;
}

void cst_lock_wait(cst_lock *lock) {
    cst_lock_missed();
    if (spin(lock)) return;
    /* From here on the word says that a thread may sleep, even when this thread gets the lock, as
     * it cannot know whether others sleep. Acquire as in cst_lock_take. The futex compares the word
     * under the kernel's lock, so the sleep does not miss a release after the exchange. */
    while (cst_exchange_acquire(lock, CST_LOCK_CONTENDED) != CST_LOCK_FREE)
        cst_futex_wait(lock, CST_LOCK_CONTENDED);
}

void cst_lock_missed(void) {
    if (cst_current_thread) cst_coroutine_before_wait(cst_current_thread->coroutine);
}

void cst_lock_wake(cst_lock *lock) {
    cst_futex_wake(lock, 1);
}

void cst_lock_acquire_rest(cst_lock *lock, bool got) {
    if (!got) cst_lock_wait(lock);
    cst_happens_after(lock);
}

void cst_lock_release_told(cst_lock *lock) {
    cst_happens_before(lock);
    cst_lock_give(lock);
}
