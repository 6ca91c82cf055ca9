/* Turns the kernel's reports into calls of registrations, one at a time. */
#include "event/deliver.h"

/* The next of the registrations that share a descriptor. */
static bool next_wanting(struct capstan_manager *manager, struct cst_delivery *delivery) {
    struct cst_wanting *wanting = &manager->wanting;
    while (wanting->next < wanting->count)
        if (cst_watch_take(manager, wanting->id[wanting->next++], wanting->events, delivery))
            return true;
    if (wanting->fd >= 0) cst_watch_settle(manager, wanting->fd);
    wanting->fd = -1;
    return false;
}

bool cst_deliver_slowly(struct capstan_manager *manager, struct cst_delivery *delivery) {
    for (;;) {
        if (manager->wanting.fd >= 0 && next_wanting(manager, delivery)) return true;
        if (manager->ready_next == manager->ready_end) break;
        if (cst_watch_find(manager, manager->ready_next++, delivery)) return true;
    }
    return cst_watch_take_closed(manager, delivery);
}

bool cst_deliver_next(struct capstan_manager *manager, struct cst_delivery *delivery) {
    const struct cst_ready *ready = manager->ready_next;
    if (cst_likely(manager->wanting.fd < 0 && ready < manager->ready_end) &&
        cst_deliver_directly(ready, cst_deliver_find(manager, ready), delivery)) {
        manager->ready_next = ++ready;
        if (ready < manager->ready_end) __builtin_prefetch(cst_deliver_find(manager, ready));
        return true;
    }
    return cst_deliver_slowly(manager, delivery);
}
