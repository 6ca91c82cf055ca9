/* Replaces the poller by a new one.
 *
 * One reason is a fork: the child shares the kernel's set with its parent. The other reason is a
 * closed file. If a file was closed while it was registered, epoll continues to report it as long
 * as a duplicate of the descriptor is open anywhere. By then no call can remove it from the set. */
#include "event/manager.h"

static void swap(struct capstan_manager *manager, struct cst_poller *fresh) {
    cst_event_acquire(&manager->lock); /* a thread that wakes the driver holds it */
    struct cst_poller *old = manager->poller;
    manager->poller = fresh;
    cst_event_release(&manager->lock);
    manager->ops->close(old);
}

int cst_rebuild_forked(struct capstan_manager *manager) {
    int error;
    struct cst_poller *fresh = manager->ops->open(&error);
    if (fresh == NULL) return error;
    swap(manager, fresh);
    cst_store_relaxed(&manager->forked, 0); /* relaxed, as where it is read */
    cst_watch_register_again(manager);
    return 0;
}

int cst_rebuild(struct capstan_manager *manager) {
    cst_event_acquire(&manager->fd_lock);
    int error;
    struct cst_poller *fresh = manager->ops->open(&error);
    if (fresh != NULL) {
        cst_watch_verify(manager);
        swap(manager, fresh);
        cst_watch_register_again(manager);
        CST_COUNT(manager->statistics.rebuilds, 1);
    }
    cst_event_release(&manager->fd_lock);
    return fresh == NULL ? error : 0;
}
