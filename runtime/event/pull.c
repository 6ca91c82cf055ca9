/* Due calls as records, for a host that calls the functions itself. */
#include "event/deliver.h"

#include <errno.h>

/* src/Capstan/Event/Internal.hs reads records by these offsets. */
#define PLACE(field, offset)                                                                       \
    _Static_assert(offsetof(struct capstan_record, field) == (offset), "read from Haskell")
PLACE(id, 0);
PLACE(function, 8);
PLACE(data, 16);
PLACE(expirations, 24);
PLACE(events, 32);
PLACE(fd, 36);
PLACE(kind, 40);
PLACE(last, 41);
_Static_assert(sizeof(struct capstan_record) == 48, "read from Haskell");

static bool next_fd(struct capstan_manager *manager, struct capstan_record *record) {
    struct cst_delivery delivery;
    if (!cst_deliver_next(manager, &delivery) && !cst_watch_take_ended(manager, &delivery))
        return false;
    *record = (struct capstan_record){
        .id = delivery.id,
        .function = (void (*)(void))delivery.function,
        .data = delivery.data,
        .events = delivery.events,
        .fd = delivery.fd,
        .kind = CAPSTAN_RECORD_FD,
        .last = delivery.last,
    };
    return true;
}

static bool next_timer(struct capstan_manager *manager, bool any, struct capstan_record *record) {
    struct cst_expiry expiry;
    bool found = any ? cst_timer_take_any(manager, &expiry) : cst_timer_take(manager, &expiry);
    if (!found && !cst_timer_take_ended(manager, &expiry)) return false;
    *record = (struct capstan_record){
        .id = expiry.id,
        .function = (void (*)(void))expiry.function,
        .data = expiry.data,
        .expirations = expiry.expirations,
        .fd = -1,
        .kind = CAPSTAN_RECORD_TIMER,
        .last = expiry.last,
    };
    return true;
}

static bool next_post(struct capstan_manager *manager, struct capstan_record *record) {
    struct cst_post post;
    if (!cst_post_take(manager, &post)) return false;
    *record = (struct capstan_record){
        .function = (void (*)(void))post.function,
        .data = post.data,
        .fd = -1,
        .kind = CAPSTAN_RECORD_POST,
        .last = 1,
    };
    return true;
}

static unsigned fill(struct capstan_manager *manager, bool any, struct capstan_record *records,
                     unsigned capacity) {
    unsigned filled = 0;
    while (filled < capacity && next_fd(manager, &records[filled])) filled++;
    while (filled < capacity && next_timer(manager, any, &records[filled])) filled++;
    while (filled < capacity && next_post(manager, &records[filled])) filled++;
    return filled;
}

int capstan_pull(capstan_manager *manager, struct capstan_record *records, unsigned capacity,
                 uint64_t timeout, unsigned *count) {
    *count = 0;
    if (!manager->pull || capacity == 0) return EINVAL;
    int error = cst_loop_enter(manager);
    if (error != 0) return error;
    if (manager->poller == NULL) { /* cst_manager_end */
        cst_loop_leave(manager);
        return ESHUTDOWN;
    }
    cst_slow_returned(manager);
    bool stopping = cst_load_relaxed(&manager->stopping); /* its setter wakes the driver */
    if (stopping) cst_watch_close_all(manager);
    /* The rest of the last batch comes first. The kernel is asked when the batch is empty. */
    unsigned filled = fill(manager, stopping, records, capacity);
    if (filled == 0) {
        error = cst_loop_collect(manager, stopping ? 0 : timeout);
        if (error == 0) filled = fill(manager, stopping, records, capacity);
        if (error == 0 && filled == 0 && stopping) error = ESHUTDOWN;
    }
    cst_event_acquire(&manager->lock);
    manager->outstanding = filled > 0;
    cst_event_release(&manager->lock);
    if (filled > 0) cst_slow_pulled(manager, records, filled);
    *count = filled;
    cst_loop_leave(manager);
    return error;
}

void cst_manager_wake(struct capstan_manager *manager) {
    cst_loop_add_chore(manager, CST_CHORE_RETURN);
}

int cst_manager_new_pull(struct capstan_manager **manager) {
    struct capstan_manager_options options = {.size = sizeof options, .pull = 1};
    return capstan_manager_new(manager, &options);
}

uint64_t cst_pull_register(struct capstan_manager *manager, int fd, unsigned events, void *data) {
    capstan_watch watch;
    int error = capstan_fd_register(manager, fd, events, NULL, data, &watch);
    return error != 0 ? (uint64_t)error : watch;
}

uint64_t cst_pull_start_timer(struct capstan_manager *manager, uint64_t deadline, uint64_t period,
                              void *data) {
    capstan_timer timer;
    int error = capstan_timer_start_at(manager, deadline, period, NULL, data, &timer);
    return error != 0 ? (uint64_t)error : timer;
}
