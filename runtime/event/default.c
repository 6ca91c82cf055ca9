/* The default managers: one per processor, each driven by a thread made on first use. */
#include "event/manager.h"

#include <pthread.h>
#include <sched.h>

enum { MOST = 16 };

static struct cst_event_lock making;
static _Atomic(struct capstan_manager *) defaults[MOST];
static _Atomic uint32_t default_count; /* 0: not known yet */

static void drive(void *argument) {
    struct capstan_manager *manager = argument;
    /* Errors pass, such as a lack of memory in the kernel. The thread waits a little and goes
     * on. */
    while (cst_loop_run(manager) != 0) {
        _Atomic uint32_t nothing = 0;
        cst_futex_wait_for(&nothing, 0, 10 * 1000000);
    }
}

static struct capstan_manager *make(uint32_t index) {
    int error;
    cst_event_acquire(&making);
    struct capstan_manager *manager = cst_load_relaxed(&defaults[index]); /* under the lock */
    if (manager == NULL) {
        manager = cst_manager_make(NULL, &error);
        if (manager != NULL) {
            manager->is_default = true;
            if (cst_event_spawn(drive, manager) == 0) {
                /* Release: pairs with the acquire in capstan_manager_default. */
                cst_store_release(&defaults[index], manager);
            } else {
                cst_registry_remove(manager);
                cst_manager_destroy(manager);
                manager = NULL;
            }
        }
    }
    cst_event_release(&making);
    return manager;
}

static uint32_t count_defaults(void) {
    uint32_t available = cst_cpu_available();
    uint32_t count = available < MOST ? available : MOST;
    cst_store_relaxed(&default_count, count); /* every thread writes the same number */
    return count;
}

capstan_manager *capstan_manager_default(void) {
    uint32_t count = cst_load_relaxed(&default_count); /* a constant once it is not 0 */
    if (cst_unlikely(count == 0)) count = count_defaults();
    int cpu = sched_getcpu();
    uint32_t index = cpu < 0 ? 0 : (uint32_t)cpu % count;
    struct capstan_manager *manager = cst_load_acquire(&defaults[index]); /* pairs with make */
    return cst_likely(manager != NULL) ? manager : make(index);
}

void cst_default_after_fork(void) {
    /* Relaxed: the child has one thread. */
    cst_store_relaxed(&making.word, 0);
    for (uint32_t i = 0; i < MOST; i++) {
        struct capstan_manager *manager = cst_load_relaxed(&defaults[i]);
        if (manager == NULL) continue;
        cst_store_relaxed(&defaults[i], NULL);
        cst_registry_remove(manager);
        /* A manager whose function called fork is still in use, so its memory stays. */
        if (cst_load_relaxed(&manager->driver) == 0) cst_manager_destroy(manager);
    }
}
