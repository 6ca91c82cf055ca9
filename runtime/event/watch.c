/* Registrations of descriptors: made, changed, ended, taken for delivery.
 *
 * The kernel knows one mask per descriptor; several registrations share it. It reports with the
 * identifier of one of them, the descriptor's key. So a report for an ended registration, or for an
 * earlier state of the descriptor, is recognised and dropped: the kernel repeats a report that
 * still holds. */
#include "event/manager.h"

#include <errno.h>
#include <stdlib.h>

static struct cst_watch *watch_at(struct capstan_manager *manager, uint32_t index) {
    return (struct cst_watch *)cst_table_at(&manager->watches, index);
}

static struct cst_watch *find(struct capstan_manager *manager, uint64_t id) {
    return (struct cst_watch *)cst_table_find(&manager->watches, id);
}

/* All reads below are relaxed: the fields are written under fd_lock, which is held here. */
static int fd_of(struct cst_watch *watch) {
    return cst_load_relaxed(&watch->fd);
}
static uint32_t interest_of(struct cst_watch *watch) {
    return cst_load_relaxed(&watch->interest);
}

/* The descriptor's place in the table. The table grows only for an open number, as any other number
 * may be as large as INT_MAX. */
static int descriptor(struct capstan_manager *manager, int fd, struct cst_descriptor **result) {
    size_t wanted = (size_t)fd + 1, count = manager->descriptor_count;
    if (wanted > count) {
        if (manager->ops->set(manager->poller, fd, true, 0, 0) == EBADF) return EBADF;
        if (count == 0) count = 64;
        while (count < wanted) count *= 2;
        struct cst_descriptor *larger = realloc(manager->descriptors, count * sizeof *larger);
        if (larger == NULL) return ENOMEM;
        for (size_t i = manager->descriptor_count; i < count; i++)
            larger[i] = (struct cst_descriptor){.first = CST_TABLE_NONE};
        manager->descriptors = larger;
        manager->descriptor_count = count;
    }
    *result = &manager->descriptors[fd];
    return 0;
}

/* The mask for the back end: all registrations of a descriptor together. */
static uint32_t combined_mask(struct capstan_manager *manager, struct cst_descriptor *d) {
    uint32_t interest = 0, edge = 0, oneshot = CAPSTAN_ONESHOT;
    for (uint32_t i = d->first; i != CST_TABLE_NONE; i = watch_at(manager, i)->entry.next) {
        struct cst_watch *watch = watch_at(manager, i);
        if (interest_of(watch) == 0) continue;
        interest |= interest_of(watch);
        edge |= watch->modes & CAPSTAN_EDGE;
        oneshot &= watch->modes; /* one-shot in the kernel only if all registrations are */
    }
    return interest == 0 ? 0 : interest | edge | oneshot;
}

/* Lets a registration that is alone and persistent be delivered without the lock. */
static void update_direct(struct capstan_manager *manager, struct cst_descriptor *d) {
    if (d->first == CST_TABLE_NONE) return;
    struct cst_watch *first = watch_at(manager, d->first);
    bool alone = first->entry.next == CST_TABLE_NONE && !(first->modes & CAPSTAN_ONESHOT);
    uint32_t interest = interest_of(first);
    bool direct = alone && interest != 0;
    cst_store_release(&first->direct, direct ? interest | CAPSTAN_ERROR | CAPSTAN_HANGUP : 0);
}

static void link_watch(struct capstan_manager *manager, struct cst_descriptor *d, uint32_t index) {
    watch_at(manager, index)->entry.next = d->first;
    if (d->first != CST_TABLE_NONE) cst_store_relaxed(&watch_at(manager, d->first)->direct, 0);
    d->first = index;
    update_direct(manager, d);
}

/* Takes an index out of a list that begins at `first`; returns its new beginning. */
static uint32_t unlink_from(struct capstan_manager *manager, uint32_t first, uint32_t index) {
    uint32_t next = watch_at(manager, index)->entry.next;
    if (first == index) return next;
    uint32_t i = first;
    while (watch_at(manager, i)->entry.next != index) i = watch_at(manager, i)->entry.next;
    watch_at(manager, i)->entry.next = next;
    return first;
}

/* Adds to one of the lists whose emptiness the driver tests without the lock. Relaxed: after an
 * addition, the driver is woken under `lock`. */
static void push(_Atomic uint32_t *list, struct cst_entry *entry, uint32_t index) {
    entry->next = cst_load_relaxed(list);
    cst_store_relaxed(list, index);
}

static void unlink_watch(struct capstan_manager *manager, struct cst_descriptor *d,
                         uint32_t index) {
    d->first = unlink_from(manager, d->first, index);
    update_direct(manager, d);
}

static void release(struct capstan_manager *manager, struct cst_watch *watch, uint32_t index) {
    cst_table_retire(&manager->watches, &watch->entry);
    cst_store_relaxed(&watch->direct, 0);
    cst_table_free(&manager->watches, &watch->entry, index);
}

/* Ends the registrations of a descriptor that does not name the registered file any more. */
static void close_watches(struct capstan_manager *manager, struct cst_descriptor *d) {
    /* A quiet file cannot report. Any other file might, while a copy of its descriptor is open. */
    if (d->mask & ~(uint32_t)CAPSTAN_ONESHOT) manager->zombies = true;
    d->mask = 0;
    if (d->first == CST_TABLE_NONE) return;
    while (d->first != CST_TABLE_NONE) {
        uint32_t index = d->first;
        struct cst_watch *watch = watch_at(manager, index);
        d->first = watch->entry.next;
        cst_store_relaxed(&watch->direct, 0);
        watch->closed = 1;
        push(&manager->closed, &watch->entry, index);
    }
    cst_loop_add_chore(manager, CST_CHORE_CLOSED);
}

/* Tells the back end a mask. If the descriptor was closed, its registrations end. */
static int tell(struct capstan_manager *manager, struct cst_descriptor *d, int fd, uint32_t mask,
                uint64_t key) {
    bool known = d->mask != 0;
    if (mask == 0 && !known) return 0;
    int error = manager->ops->set(manager->poller, fd, known, mask, key);
    if (error == EEXIST) error = manager->ops->set(manager->poller, fd, true, mask, key);
    if (known && (error == ENOENT || error == EBADF)) {
        close_watches(manager, d);
        return error;
    }
    if (error == 0) {
        d->mask = mask;
        d->key = key;
    }
    return error;
}

/* Brings the back end in line with the registrations; `again`: even if it seems to be in line. */
static int settle(struct capstan_manager *manager, int fd, bool again) {
    if (cst_load_relaxed(&manager->forked)) return 0; /* the rebuild will tell all */
    struct cst_descriptor *d = &manager->descriptors[fd];
    uint32_t mask = combined_mask(manager, d);
    /* Registrations that want no event now stay known. Otherwise the file could be closed, and its
     * number reused, unnoticed. */
    if (mask == 0 && d->first != CST_TABLE_NONE) mask = CAPSTAN_ONESHOT;
    struct cst_watch *named = find(manager, d->key);
    bool valid = named != NULL && !named->closed && fd_of(named) == fd;
    if (!again && mask == d->mask && (valid || mask == 0)) return 0;
    uint64_t key = d->key;
    if (!valid && d->first != CST_TABLE_NONE)
        key = cst_table_id(&watch_at(manager, d->first)->entry, d->first);
    /* A one-shot that fired is already quiet: its removal would cost a call without effect. */
    if (mask == 0 && d->mask == CAPSTAN_ONESHOT) return 0;
    return tell(manager, d, fd, mask, key);
}

static int check_events(unsigned events, unsigned modes) {
    if (events & ~(unsigned)(CST_EVENT_INTEREST | modes)) return EINVAL;
    return 0;
}

/* Adds a registration whose fields are set. */
static int add(struct capstan_manager *manager, struct cst_descriptor *d, int fd, uint32_t index) {
    struct cst_watch *watch = watch_at(manager, index);
    uint64_t id = cst_table_id(&watch->entry, index);
    uint32_t mask = interest_of(watch) | watch->modes;
    if (d->first != CST_TABLE_NONE) {
        if ((watch_at(manager, d->first)->modes ^ watch->modes) & CAPSTAN_EDGE) {
            /* The others may belong to a file that was closed meanwhile: the back end knows. */
            if (d->mask != 0) tell(manager, d, fd, d->mask, d->key);
            if (d->first != CST_TABLE_NONE) return EINVAL;
        }
        uint32_t others = combined_mask(manager, d);
        if (others != 0) {
            uint32_t both = others & mask & CAPSTAN_ONESHOT;
            mask = ((mask | others) & ~(uint32_t)CAPSTAN_ONESHOT) | both;
        }
    }
    /* It is linked only once the back end has agreed, as `tell` may end all linked
     * registrations. */
    int error = tell(manager, d, fd, mask, id);
    if (error == ENOENT) error = tell(manager, d, fd, interest_of(watch) | watch->modes, id);
    if (error == 0) link_watch(manager, d, index);
    return error;
}

int capstan_fd_register(capstan_manager *manager, int fd, unsigned events,
                        capstan_fd_function *function, void *data, capstan_watch *result) {
    if (fd < 0) return EBADF;
    if (!(events & CST_EVENT_INTEREST) || (function == NULL && !manager->pull)) return EINVAL;
    int error = check_events(events, CST_EVENT_MODES);
    if (error != 0) return error;
    cst_event_acquire(&manager->fd_lock);
    if (cst_load_relaxed(&manager->stopping)) error = ESHUTDOWN; /* written under the lock */
    if (error == 0) error = cst_rebuild_after_fork(manager);
    struct cst_descriptor *d = NULL;
    if (error == 0) error = descriptor(manager, fd, &d);
    uint32_t index;
    struct cst_watch *watch =
        d == NULL ? NULL : (struct cst_watch *)cst_table_allocate(&manager->watches, &index);
    if (watch != NULL) {
        cst_store_relaxed(&watch->interest, events & CST_EVENT_INTEREST);
        /* Release, as in update_direct: a driver that reads one of these fields without the lock
         * then also reads the generation that was written before (deliver.h). */
        cst_store_release(&watch->function, function);
        cst_store_release(&watch->data, data);
        cst_store_release(&watch->fd, fd);
        watch->modes = events & CST_EVENT_MODES;
        watch->closed = 0;
        watch->entry.next = CST_TABLE_NONE;
        if (result != NULL) *result = cst_table_id(&watch->entry, index);
        error = add(manager, d, fd, index);
        if (error != 0) release(manager, watch, index);
    } else if (error == 0) {
        error = ENOMEM;
    }
    cst_event_release(&manager->fd_lock);
    cst_slow_look(manager);
    return error;
}

int capstan_fd_change(capstan_manager *manager, capstan_watch id, unsigned events) {
    int error = check_events(events, 0);
    if (error != 0) return error;
    cst_event_acquire(&manager->fd_lock);
    struct cst_watch *watch = find(manager, id);
    if (watch == NULL || watch->closed) {
        error = ENOENT;
    } else {
        cst_store_relaxed(&watch->interest, events);
        update_direct(manager, &manager->descriptors[fd_of(watch)]);
        error = settle(manager, fd_of(watch), true);
        /* EBADF: `watch` has ended, as its descriptor was closed. */
        if (error == EBADF) error = ENOENT;
    }
    cst_event_release(&manager->fd_lock);
    return error;
}

/* Ends a registration by a call. A puller gets its data back. True: the driver should be woken. */
static bool end(struct capstan_manager *manager, struct cst_watch *watch, uint32_t index) {
    if (!manager->pull) {
        release(manager, watch, index);
        return false;
    }
    cst_table_retire(&manager->watches, &watch->entry);
    cst_store_relaxed(&watch->direct, 0);
    push(&manager->ended_watches, &watch->entry, index);
    return ++manager->ended_watch_count % CST_EVENT_BATCH == 0; /* bounds the data that waits */
}

int capstan_fd_unregister(capstan_manager *manager, capstan_watch id) {
    cst_event_acquire(&manager->fd_lock);
    struct cst_watch *watch = find(manager, id);
    int error = watch == NULL ? ENOENT : 0;
    bool wake = false;
    if (watch == NULL) {
        /* It has ended before, or never existed. */
    } else if (watch->closed) {
        uint32_t first = cst_load_relaxed(&manager->closed);
        cst_store_relaxed(&manager->closed, unlink_from(manager, first, (uint32_t)id));
        wake = end(manager, watch, (uint32_t)id);
    } else {
        int fd = fd_of(watch);
        unlink_watch(manager, &manager->descriptors[fd], (uint32_t)id);
        wake = end(manager, watch, (uint32_t)id);
        settle(manager, fd, false); /* whatever the result, the registration has ended */
    }
    cst_event_release(&manager->fd_lock);
    if (wake) cst_loop_add_chore(manager, 0);
    return error;
}

void cst_watch_close_fd(struct capstan_manager *manager, int fd) {
    cst_event_acquire(&manager->fd_lock);
    if (cst_rebuild_after_fork(manager) == 0 && fd >= 0 && (size_t)fd < manager->descriptor_count) {
        struct cst_descriptor *d = &manager->descriptors[fd];
        if (d->mask != 0 && manager->ops->set(manager->poller, fd, true, 0, 0) == 0) d->mask = 0;
        close_watches(manager, d);
    }
    cst_event_release(&manager->fd_lock);
}

/* Asks the back end by a repetition of the known mask. The back end identifies an entry by its
 * file. So it does not find a number that another file has by now, and finds a number that still
 * names the same file. */
static void verify(struct capstan_manager *manager, int fd) {
    struct cst_descriptor *d = &manager->descriptors[fd];
    if (d->mask != 0 && d->first != CST_TABLE_NONE) tell(manager, d, fd, d->mask, d->key);
}

void cst_watch_verify_fd(struct capstan_manager *manager, int fd) {
    cst_event_acquire(&manager->fd_lock);
    if (cst_rebuild_after_fork(manager) == 0 && fd >= 0 && (size_t)fd < manager->descriptor_count)
        verify(manager, fd);
    cst_event_release(&manager->fd_lock);
}

void cst_watch_close_all(struct capstan_manager *manager) {
    cst_event_acquire(&manager->fd_lock);
    for (size_t fd = 0; fd < manager->descriptor_count; fd++)
        close_watches(manager, &manager->descriptors[fd]);
    cst_event_release(&manager->fd_lock);
}

static bool want_room(struct cst_wanting *wanting) {
    if (wanting->count < wanting->capacity) return true;
    size_t capacity = wanting->capacity ? 2 * wanting->capacity : 16;
    uint64_t *larger = realloc(wanting->id, capacity * sizeof *larger);
    if (larger == NULL) return false; /* registrations left out are reported again */
    wanting->id = larger;
    wanting->capacity = capacity;
    return true;
}

/* The events of a report that a registration gets; 0: none. HANGUP alone must be requested, and the
 * request may be another registration's. Lock held. */
static unsigned events_for(struct cst_watch *watch, unsigned events) {
    uint32_t interest = interest_of(watch), ended = events & CST_POLL_ENDED ? CAPSTAN_HANGUP : 0;
    return interest == 0 ? 0 : events & (interest | CAPSTAN_ERROR | ended);
}

static void describe(struct cst_watch *watch, uint64_t id, unsigned events, bool last,
                     struct cst_delivery *delivery) {
    *delivery = (struct cst_delivery){
        .id = id,
        .function = cst_load_relaxed(&watch->function),
        .data = cst_load_relaxed(&watch->data),
        .fd = fd_of(watch),
        .events = events,
        .last = last,
    };
}

/* Takes a one-shot, which ends it. Lock held. */
static void take_last(struct capstan_manager *manager, struct cst_descriptor *d, uint32_t index,
                      unsigned events, struct cst_delivery *delivery) {
    struct cst_watch *watch = watch_at(manager, index);
    describe(watch, cst_table_id(&watch->entry, index), events, true, delivery);
    unlink_watch(manager, d, index);
    release(manager, watch, index);
}

/* Collects the registrations that want the events. Lock held. */
static void collect_wanting(struct capstan_manager *manager, const struct cst_descriptor *d,
                            unsigned events) {
    struct cst_wanting *wanting = &manager->wanting;
    for (uint32_t i = d->first; i != CST_TABLE_NONE; i = watch_at(manager, i)->entry.next) {
        struct cst_watch *watch = watch_at(manager, i);
        if (events_for(watch, events) != 0 && want_room(wanting))
            wanting->id[wanting->count++] = cst_table_id(&watch->entry, i);
    }
}

bool cst_watch_find(struct capstan_manager *manager, const struct cst_ready *ready,
                    struct cst_delivery *delivery) {
    struct cst_wanting *wanting = &manager->wanting;
    bool taken = false;
    wanting->count = wanting->next = 0;
    wanting->events = ready->events;
    wanting->fd = -1;
    cst_event_acquire(&manager->fd_lock);
    struct cst_watch *named = find(manager, ready->key);
    struct cst_descriptor *d = NULL;
    if (named != NULL && !named->closed) d = &manager->descriptors[fd_of(named)];
    if (d == NULL || d->key != ready->key) {
        CST_COUNT(manager->statistics.stale, 1);
        if (manager->zombies) cst_loop_add_chore(manager, CST_CHORE_REBUILD);
    } else if ((d->mask & named->modes & CAPSTAN_ONESHOT) && d->first == (uint32_t)ready->key &&
               named->entry.next == CST_TABLE_NONE && events_for(named, ready->events) != 0) {
        /* The kernel is quiet about the descriptor now, so there is nothing to settle. */
        d->mask = CAPSTAN_ONESHOT;
        take_last(manager, d, d->first, events_for(named, ready->events), delivery);
        taken = true;
    } else {
        wanting->fd = fd_of(named);
        if (d->mask & CAPSTAN_ONESHOT) d->mask = CAPSTAN_ONESHOT;
        collect_wanting(manager, d, ready->events);
    }
    cst_event_release(&manager->fd_lock);
    return taken;
}

bool cst_watch_take(struct capstan_manager *manager, uint64_t id, unsigned events,
                    struct cst_delivery *delivery) {
    cst_event_acquire(&manager->fd_lock);
    struct cst_watch *watch = find(manager, id);
    if (watch == NULL || watch->closed)
        events = 0;
    else
        events = events_for(watch, events);
    if (events != 0 && (watch->modes & CAPSTAN_ONESHOT))
        take_last(manager, &manager->descriptors[fd_of(watch)], (uint32_t)id, events, delivery);
    else if (events != 0)
        describe(watch, id, events, false, delivery);
    cst_event_release(&manager->fd_lock);
    return events != 0;
}

void cst_watch_settle(struct capstan_manager *manager, int fd) {
    cst_event_acquire(&manager->fd_lock);
    /* An error other than a closed descriptor, such as no memory, leaves the mask unsettled. The
     * next change of the descriptor tries again. */
    settle(manager, fd, false);
    cst_event_release(&manager->fd_lock);
}

bool cst_watch_take_closed(struct capstan_manager *manager, struct cst_delivery *delivery) {
    if (cst_load_relaxed(&manager->closed) == CST_TABLE_NONE) return false; /* see push */
    cst_event_acquire(&manager->fd_lock);
    uint32_t index = cst_load_relaxed(&manager->closed);
    if (index != CST_TABLE_NONE) {
        struct cst_watch *watch = watch_at(manager, index);
        cst_store_relaxed(&manager->closed, watch->entry.next);
        describe(watch, cst_table_id(&watch->entry, index), CAPSTAN_CLOSED, true, delivery);
        release(manager, watch, index);
    }
    cst_event_release(&manager->fd_lock);
    return index != CST_TABLE_NONE;
}

bool cst_watch_take_ended(struct capstan_manager *manager, struct cst_delivery *delivery) {
    if (cst_load_relaxed(&manager->ended_watches) == CST_TABLE_NONE) return false; /* see push */
    cst_event_acquire(&manager->fd_lock);
    uint32_t index = cst_load_relaxed(&manager->ended_watches);
    if (index != CST_TABLE_NONE) {
        struct cst_watch *watch = watch_at(manager, index);
        cst_store_relaxed(&manager->ended_watches, watch->entry.next);
        manager->ended_watch_count--;
        describe(watch, 0, 0, true, delivery);
        cst_table_free(&manager->watches, &watch->entry, index);
    }
    cst_event_release(&manager->fd_lock);
    return index != CST_TABLE_NONE;
}

void cst_watch_verify(struct capstan_manager *manager) {
    for (size_t fd = 0; fd < manager->descriptor_count; fd++) verify(manager, (int)fd);
}

void cst_watch_register_again(struct capstan_manager *manager) {
    manager->zombies = false;
    for (size_t fd = 0; fd < manager->descriptor_count; fd++) {
        struct cst_descriptor *d = &manager->descriptors[fd];
        d->mask = 0;
        if (d->first != CST_TABLE_NONE && settle(manager, (int)fd, false) != 0)
            close_watches(manager, d);
    }
}
