/* The portable back end: poll(2), woken by a pipe.
 *
 * Each wait passes every descriptor to the kernel, so its cost grows with their number. There is no
 * edge-triggered reporting. If a descriptor was closed and its number reused, the new file cannot
 * be distinguished from the old one. */
#include "event/poller.h"

#include "event/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct watched {
    int fd;
    uint16_t mask;
    bool fresh; /* changed after the waiting thread's copy, so its report is too old */
    uint64_t key;
};

struct cst_poller {
    int wake[2];
    struct cst_event_lock lock; /* down to `waiting` */
    struct watched *list;
    size_t count, capacity;
    uint32_t *place; /* by descriptor: index in list + 1; 0: none */
    size_t places;
    bool changed;
    bool waiting;       /* the copy is taken: the next change must wake the waiter */
    struct pollfd *set; /* waiting thread: the pipe, then a copy of list */
    size_t set_count, set_capacity;
    size_t first; /* begin of the next report, so that a short `ready` is fair */
};

static struct cst_poller *poll_open(int *error) {
    struct cst_poller *poller = calloc(1, sizeof *poller);
    if (poller == NULL) {
        *error = ENOMEM;
        return NULL;
    }
    poller->changed = true;
    if (pipe(poller->wake) != 0) {
        *error = errno;
        free(poller);
        return NULL;
    }
    for (int i = 0; i < 2; i++) {
        fcntl(poller->wake[i], F_SETFD, FD_CLOEXEC);
        fcntl(poller->wake[i], F_SETFL, O_NONBLOCK);
    }
    return poller;
}

static void poll_close(struct cst_poller *poller) {
    close(poller->wake[0]);
    close(poller->wake[1]);
    free(poller->list);
    free(poller->place);
    free(poller->set);
    free(poller);
}

static void poll_wake(struct cst_poller *poller) {
    int saved = errno;
    ssize_t written = write(poller->wake[1], "", 1);
    (void)written; /* a full pipe wakes too */
    errno = saved;
}

static bool make_room(struct cst_poller *poller, size_t fd) {
    if (fd >= poller->places) {
        size_t places = poller->places ? poller->places : 64;
        while (places <= fd) places *= 2;
        uint32_t *larger = realloc(poller->place, places * sizeof *larger);
        if (larger == NULL) return false;
        memset(larger + poller->places, 0, (places - poller->places) * sizeof *larger);
        poller->place = larger;
        poller->places = places;
    }
    if (poller->count == poller->capacity) {
        size_t capacity = poller->capacity ? 2 * poller->capacity : 64;
        struct watched *larger = realloc(poller->list, capacity * sizeof *larger);
        if (larger == NULL) return false;
        poller->list = larger;
        poller->capacity = capacity;
    }
    return true;
}

static void forget(struct cst_poller *poller, uint32_t *place) {
    if (*place == 0) return;
    struct watched *entry = &poller->list[*place - 1];
    struct watched *last = &poller->list[--poller->count];
    if (entry != last) {
        *entry = *last;
        poller->place[last->fd] = *place;
    }
    *place = 0;
}

static int poll_set(struct cst_poller *poller, int fd, bool known, uint32_t mask, uint64_t key) {
    (void)known;
    if (mask & CST_POLL_EDGE) return ENOTSUP;
    if (mask != 0 && fcntl(fd, F_GETFD) < 0) return EBADF;
    int error = 0;
    cst_event_acquire(&poller->lock);
    if (mask == 0 && (size_t)fd >= poller->places) {
        error = fcntl(fd, F_GETFD) < 0 ? EBADF : ENOENT;
    } else if (!make_room(poller, (size_t)fd)) {
        error = ENOMEM;
    } else if (mask == 0) {
        forget(poller, &poller->place[fd]);
    } else {
        if (poller->place[fd] == 0) poller->place[fd] = (uint32_t)++poller->count;
        poller->list[poller->place[fd] - 1] = (struct watched){fd, (uint16_t)mask, true, key};
    }
    poller->changed = true;
    bool wake = error == 0 && poller->waiting; /* else the waiter copies anew */
    if (wake) poller->waiting = false;
    cst_event_release(&poller->lock);
    if (wake) poll_wake(poller);
    return error;
}

static short kernel_events(uint32_t mask) {
    short events = 0;
    if (mask & CST_POLL_READ) events |= POLLIN;
    if (mask & CST_POLL_WRITE) events |= POLLOUT;
#ifdef POLLRDHUP
    if (mask & CST_POLL_HANGUP) events |= POLLRDHUP;
#endif
    return events;
}

static uint32_t our_events(short revents) {
    uint32_t events = 0;
    if (revents & POLLIN) events |= CST_POLL_READ;
    if (revents & POLLOUT) events |= CST_POLL_WRITE;
#ifdef POLLRDHUP
    if (revents & POLLRDHUP) events |= CST_POLL_READ | CST_POLL_HANGUP;
#endif
    if (revents & POLLHUP)
        events |= CST_POLL_READ | CST_POLL_WRITE | CST_POLL_HANGUP | CST_POLL_ENDED;
    if (revents & (POLLERR | POLLNVAL)) events |= CST_POLL_READ | CST_POLL_WRITE | CST_POLL_ERROR;
    return events;
}

static bool grow_set(struct cst_poller *poller) {
    if (poller->set_capacity > poller->count) return true;
    struct pollfd *larger = realloc(poller->set, (poller->capacity + 1) * sizeof *larger);
    if (larger == NULL) return false;
    poller->set = larger;
    poller->set_capacity = poller->capacity + 1;
    return true;
}

/* Brings the waiting thread's copy of the list up to date; entry 0 is the pipe. */
static bool refresh(struct cst_poller *poller) {
    cst_event_acquire(&poller->lock);
    bool grown = !poller->changed || grow_set(poller);
    if (poller->changed && grown) {
        size_t used = 0;
        poller->set[used++] = (struct pollfd){.fd = poller->wake[0], .events = POLLIN};
        for (size_t i = 0; i < poller->count; i++) {
            struct watched *entry = &poller->list[i];
            entry->fresh = false;
            /* A one-shot that has fired reports nothing, not even an error. */
            if (entry->mask & ~CST_POLL_ONESHOT)
                poller->set[used++] =
                    (struct pollfd){.fd = entry->fd, .events = kernel_events(entry->mask)};
        }
        poller->set_count = used;
        poller->changed = false;
    }
    poller->waiting = grown;
    cst_event_release(&poller->lock);
    return grown;
}

/* Reports a descriptor that poll found ready, as the list has it now. False: no report. */
static bool report(struct cst_poller *poller, const struct pollfd *found, struct cst_ready *ready) {
    uint32_t place = poller->place[found->fd];
    if (place == 0) return false;
    struct watched *entry = &poller->list[place - 1];
    if (entry->fresh || !(entry->mask & ~CST_POLL_ONESHOT)) return false;
    *ready = (struct cst_ready){.key = entry->key, .events = our_events(found->revents)};
    if (entry->mask & CST_POLL_ONESHOT || found->revents & POLLNVAL) {
        entry->mask = CST_POLL_ONESHOT;
        poller->changed = true;
    }
    return true;
}

/* Ends a wait without reports. */
static int awake(struct cst_poller *poller, int result) {
    cst_event_acquire(&poller->lock);
    poller->waiting = false;
    cst_event_release(&poller->lock);
    return result;
}

static int poll_wait(struct cst_poller *poller, struct cst_ready *ready, int capacity,
                     int64_t timeout) {
    if (!refresh(poller)) return -ENOMEM;
    struct timespec span = {.tv_sec = timeout / 1000000000, .tv_nsec = timeout % 1000000000};
    int count = ppoll(poller->set, (nfds_t)poller->set_count, timeout < 0 ? NULL : &span, NULL);
    if (count < 0) return awake(poller, errno == EINTR ? 0 : -errno);
    if (count > 0 && poller->set[0].revents) {
        char sink[64];
        while (read(poller->wake[0], sink, sizeof sink) == sizeof sink) continue;
        count--;
    }
    int filled = 0;
    cst_event_acquire(&poller->lock);
    poller->waiting = false;
    size_t others = poller->set_count - 1, tried = 0;
    for (; tried < others && count > 0 && filled < capacity; tried++) {
        const struct pollfd *found = &poller->set[1 + (poller->first + tried) % others];
        if (found->revents == 0) continue;
        count--;
        if (report(poller, found, &ready[filled])) filled++;
    }
    if (others > 0) poller->first = (poller->first + tried) % others;
    cst_event_release(&poller->lock);
    return filled;
}

const struct cst_poller_ops cst_poll_ops = {
    .name = "poll",
    .edge = false,
    .open = poll_open,
    .close = poll_close,
    .set = poll_set,
    .wait = poll_wait,
    .wake = poll_wake,
};
