/* The slow side of locks; see lock.h. */
#include "core/base/lock.h"

#include "core/wait/policy.h"
#include "core/state/thread.h"
#include "platform/platform.h"

/* A waiter looks at the word ever less often, so that the holder can release and acquire many times
 * while the cache line stays with it; then it sleeps. Found by measurement: shorter pauses made two
 * contending threads pass the line on at every turn. It does not go through cst_wait: it may be a
 * thread that is in no team, and it waits for one holder, not for a team. */
static bool spin(cst_lock *lock) {
    if (cst_config.spin_count == 0) return false; /* OMP_WAIT_POLICY=passive */
    if (!cst_heuristic_is_on(CST_HEURISTIC_SPIN)) return false;
    bool forever = cst_config.spin_count > UINT32_MAX; /* active, or GOMP_SPINCOUNT=infinite */
    uint32_t pauses = cst_policy.lock_first_pauses, most = cst_policy.lock_most_pauses;
    for (uint32_t look = 0; look < CST_LOCK_LOOKS || forever; look++) {
        for (uint32_t i = 0; i < pauses; i++) cst_cpu_relax();
        if (pauses < most) pauses *= 2;
        /* Relaxed: only a hint whether a try is worth taking the line; the try acquires. */
        if (cst_load_relaxed(lock) == CST_LOCK_FREE && cst_lock_try(lock)) return true;
    }
    return false;
}

void cst_lock_wait(cst_lock *lock) {
    cst_lock_missed();
    if (spin(lock)) return;
    /* From here on the word says that someone may sleep, also if it is we who get the lock: we
     * cannot know whether others sleep. Acquire as in cst_lock_try. The futex compares the word
     * under the kernel's lock, so a release between exchange and sleep is not missed. */
    while (cst_exchange_acquire(lock, CST_LOCK_CONTENDED) != CST_LOCK_FREE)
        cst_futex_wait(lock, CST_LOCK_CONTENDED);
}

void cst_lock_missed(void) {
    if (cst_current_thread) cst_coroutine_before_wait(cst_current_thread->coroutine);
}

void cst_lock_wake(cst_lock *lock) {
    cst_futex_wake(lock, 1);
}
