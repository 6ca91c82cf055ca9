/* A new poller in place of the old one.
 *
 * After a fork, because the child shares the kernel's set with its parent. And to get rid of a
 * closed file: epoll goes on reporting a file that was closed while it was registered as long as a
 * duplicate of the descriptor is open anywhere, and nothing can take it out of the set by then. */
#include "event/manager.h"

static void swap(struct capstan_manager *manager, struct cst_poller *fresh) {
    cst_event_acquire(&manager->lock); /* whoever wakes the driver holds it */
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
    cst_store_relaxed(&manager->forked, 0); /* as where it is read */
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
