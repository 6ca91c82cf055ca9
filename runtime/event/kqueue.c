/* BSD and macOS: kqueue, woken by a user event.
 *
 * Written from the manual pages; tests/c/event/kqueue.c compiles it against their interface and
 * runs it on a stand-in for kevent. It has not run on a BSD.
 *
 * kqueue knows two filters where epoll knows one descriptor. So this file keeps the requested
 * events by descriptor, to report both filters as one event, and to silence both when a one-shot
 * fires. */
#include "event/poller.h"

#if defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__) ||                         \
    defined(__DragonFly__) || defined(__APPLE__) || defined(CST_KQUEUE_STAND_IN)

#include "event/lock.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/event.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 256, WAKE_IDENT = 0 };

_Static_assert(sizeof(void *) >= sizeof(uint64_t), "a key travels in udata");

struct known {
    uint64_t key;
    uint32_t mask;  /* 0: not in the queue */
    uint32_t batch; /* the last batch that reported it */
    int place;      /* in that batch */
};

struct cst_poller {
    int queue;
    pid_t owner;                /* a child does not inherit the queue */
    struct cst_event_lock lock; /* for `known` and `known_count` */
    struct known *known;
    size_t known_count;
    uint32_t batch; /* used by the waiting thread, as is `list` */
    struct kevent list[BATCH];
};

static uintptr_t ident(int fd) {
    return (uintptr_t)fd;
}

static struct cst_poller *kqueue_open(int *error) {
    struct cst_poller *poller = calloc(1, sizeof *poller);
    if (poller == NULL) {
        *error = ENOMEM;
        return NULL;
    }
    poller->queue = kqueue();
    poller->owner = getpid();
    struct kevent wake;
    EV_SET(&wake, WAKE_IDENT, EVFILT_USER, EV_ADD | EV_CLEAR, 0, 0, NULL);
    if (poller->queue < 0 || kevent(poller->queue, &wake, 1, NULL, 0, NULL) < 0) {
        *error = errno;
        if (poller->queue >= 0) close(poller->queue);
        free(poller);
        return NULL;
    }
    return poller;
}

static void kqueue_close(struct cst_poller *poller) {
    /* In a child the number may now belong to another file. */
    if (poller->owner == getpid()) close(poller->queue);
    free(poller->known);
    free(poller);
}

static void kqueue_wake(struct cst_poller *poller) {
    int saved = errno;
    struct kevent wake;
    EV_SET(&wake, WAKE_IDENT, EVFILT_USER, 0, NOTE_TRIGGER, 0, NULL);
    kevent(poller->queue, &wake, 1, NULL, 0, NULL);
    errno = saved;
}

static bool make_room(struct cst_poller *poller, size_t fd) {
    if (fd < poller->known_count) return true;
    size_t count = poller->known_count ? poller->known_count : 64;
    while (count <= fd) count *= 2;
    struct known *larger = realloc(poller->known, count * sizeof *larger);
    if (larger == NULL) return false;
    memset(larger + poller->known_count, 0, (count - poller->known_count) * sizeof *larger);
    poller->known = larger;
    poller->known_count = count;
    return true;
}

static bool wants_read_filter(uint32_t mask) {
    return mask & (CST_POLL_READ | CST_POLL_HANGUP);
}

/* Makes one change. Returns the kernel's errno value for it. */
static int change(struct cst_poller *poller, const struct kevent *wanted) {
    struct kevent one = *wanted, receipt;
    one.flags |= EV_RECEIPT;
    int count = kevent(poller->queue, &one, 1, &receipt, 1, NULL);
    if (count < 0) return errno;
    return count == 1 && receipt.flags & EV_ERROR ? (int)receipt.data : 0;
}

static int remove_filter(struct cst_poller *poller, int fd, short filter) {
    struct kevent event;
    EV_SET(&event, ident(fd), filter, EV_DELETE, 0, 0, NULL);
    return change(poller, &event);
}

static int add_filter(struct cst_poller *poller, int fd, short filter, uint32_t mask,
                      uint64_t key) {
    unsigned short flags = EV_ADD;
    unsigned fflags = 0;
    int64_t least = 0;
    if (mask & CST_POLL_EDGE) flags |= EV_CLEAR;
    if (mask & CST_POLL_ONESHOT) flags |= EV_DISPATCH;
    if (filter == EVFILT_READ && !(mask & CST_POLL_READ)) { /* the end of the data alone */
        fflags = NOTE_LOWAT;
        least = INT_MAX;
    }
    struct kevent event;
    EV_SET(&event, ident(fd), filter, flags, fflags, least, (void *)(uintptr_t)key);
    return change(poller, &event);
}

/* Removes the present filters: a second EV_ADD would keep old flags, and would not look again. */
static int remove_known(struct cst_poller *poller, int fd, uint32_t mask) {
    int read_error = 0, write_error = 0;
    if (wants_read_filter(mask)) read_error = remove_filter(poller, fd, EVFILT_READ);
    if (mask & CST_POLL_WRITE) write_error = remove_filter(poller, fd, EVFILT_WRITE);
    return read_error ? read_error : write_error;
}

static int kqueue_set(struct cst_poller *poller, int fd, bool known, uint32_t mask, uint64_t key) {
    cst_event_acquire(&poller->lock);
    int error = 0;
    if (mask == 0 && (size_t)fd >= poller->known_count)
        error = remove_filter(poller, fd, EVFILT_READ); /* nothing is known: gives the error */
    else if (!make_room(poller, (size_t)fd))
        error = ENOMEM;
    if (error == 0) {
        struct known *entry = &poller->known[fd];
        /* The kernel drops filters when a descriptor is closed. Then the removal fails. */
        int removed = known ? remove_known(poller, fd, entry->mask) : 0;
        entry->mask = 0;
        if (removed != 0) {
            error = removed;
        } else {
            if (wants_read_filter(mask)) error = add_filter(poller, fd, EVFILT_READ, mask, key);
            if (error == 0 && mask & CST_POLL_WRITE) {
                error = add_filter(poller, fd, EVFILT_WRITE, mask, key);
                if (error != 0 && wants_read_filter(mask)) remove_filter(poller, fd, EVFILT_READ);
            }
            if (error == 0) *entry = (struct known){.key = key, .mask = mask};
        }
    }
    cst_event_release(&poller->lock);
    return error;
}

static uint32_t our_events(const struct kevent *found, uint32_t mask) {
    uint32_t events = found->filter == EVFILT_READ ? CST_POLL_READ : CST_POLL_WRITE;
    /* Without writers the data ends; without readers a write fails. Whether a reading descriptor
     * could still be written to is known only if WRITE was requested. */
    if (found->flags & EV_EOF && found->filter == EVFILT_READ)
        events |= CST_POLL_HANGUP | (mask & CST_POLL_WRITE ? 0 : CST_POLL_ENDED);
    else if (found->flags & EV_EOF)
        events |= CST_POLL_ERROR | CST_POLL_ENDED;
    if (found->flags & EV_EOF && found->fflags != 0) events |= CST_POLL_ERROR; /* a socket's */
    if (found->flags & EV_ERROR) events |= CST_POLL_READ | CST_POLL_WRITE | CST_POLL_ERROR;
    return events;
}

/* Silences the other filter of a one-shot that has fired. */
static void silence_other(struct cst_poller *poller, const struct known *entry,
                          const struct kevent *found) {
    bool both = wants_read_filter(entry->mask) && entry->mask & CST_POLL_WRITE;
    if (!(entry->mask & CST_POLL_ONESHOT) || !both) return;
    struct kevent event;
    short other = found->filter == EVFILT_READ ? EVFILT_WRITE : EVFILT_READ;
    EV_SET(&event, found->ident, other, EV_DISABLE, 0, 0, (void *)(uintptr_t)entry->key);
    change(poller, &event);
}

static int kqueue_wait(struct cst_poller *poller, struct cst_ready *ready, int capacity,
                       int64_t timeout) {
    struct timespec span = {.tv_sec = (time_t)(timeout / 1000000000),
                            .tv_nsec = (long)(timeout % 1000000000)};
    int limit = capacity < BATCH ? capacity : BATCH;
    int count = kevent(poller->queue, NULL, 0, poller->list, limit, timeout < 0 ? NULL : &span);
    if (count < 0) return errno == EINTR ? 0 : -errno;
    int filled = 0;
    poller->batch++;
    cst_event_acquire(&poller->lock);
    for (int i = 0; i < count; i++) {
        const struct kevent *found = &poller->list[i];
        if (found->filter == EVFILT_USER) continue;
        struct known *entry = &poller->known[found->ident];
        uint64_t key = (uint64_t)(uintptr_t)found->udata;
        if (entry->mask == 0 || entry->key != key) continue; /* changed since */
        if (entry->batch == poller->batch) {
            ready[entry->place].events |= our_events(found, entry->mask);
            continue;
        }
        entry->batch = poller->batch;
        entry->place = filled;
        ready[filled++] = (struct cst_ready){.key = key, .events = our_events(found, entry->mask)};
        silence_other(poller, entry, found);
    }
    cst_event_release(&poller->lock);
    return filled;
}

const struct cst_poller_ops cst_kqueue_ops = {
    .name = "kqueue",
    .edge = true,
    .open = kqueue_open,
    .close = kqueue_close,
    .set = kqueue_set,
    .wait = kqueue_wait,
    .wake = kqueue_wake,
};

#endif
