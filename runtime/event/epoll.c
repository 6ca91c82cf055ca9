/* Linux: epoll, woken by an eventfd.
 *
 * epoll refuses regular files (EPERM), although they never block. The poller keeps them in a short
 * list, and each wait reports them, as poll(2) does. The kernel forgets a closed file; the poller
 * checks at each use of a descriptor whether it still names the registered file. */
#include "event/poller.h"

#include "event/lock.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The key of the eventfd: no watch has a generation of 0. */
enum { WAKE_KEY = 0 };

struct plain_file {
    int fd;
    uint32_t mask;
    uint64_t key;
    dev_t device; /* identify the file */
    ino_t inode;
};

struct cst_poller {
    int epoll;
    int wake;
    bool no_pwait2; /* waiting thread: the kernel lacks epoll_pwait2 */
    _Atomic uint32_t plain_count;
    struct cst_event_lock plain_lock; /* for plain_count and the three below */
    struct plain_file *plain;
    size_t plain_capacity;
    size_t plain_turn; /* index of the file that the next report begins with */
};

#define SAME(ours, kernel) ((unsigned)(ours) == (unsigned)(kernel))
_Static_assert(sizeof(struct cst_ready) == sizeof(struct epoll_event) &&
                   offsetof(struct cst_ready, events) == offsetof(struct epoll_event, events) &&
                   offsetof(struct cst_ready, key) == offsetof(struct epoll_event, data),
               "the kernel writes reports where they are read");
_Static_assert(SAME(CST_POLL_READ, EPOLLIN) && SAME(CST_POLL_WRITE, EPOLLOUT) &&
                   SAME(CST_POLL_ERROR, EPOLLERR) && SAME(CST_POLL_HANGUP, EPOLLHUP),
               "events are translated by masking");

static struct cst_poller *epoll_open(int *error) {
    struct cst_poller *poller = calloc(1, sizeof *poller);
    if (poller == NULL) {
        *error = ENOMEM;
        return NULL;
    }
    poller->epoll = epoll_create1(EPOLL_CLOEXEC);
    poller->wake = poller->epoll < 0 ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    /* Edge-triggered: each write is a new edge, so no thread has to read the counter. */
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = WAKE_KEY};
    if (poller->wake < 0 || epoll_ctl(poller->epoll, EPOLL_CTL_ADD, poller->wake, &event) != 0) {
        *error = errno;
        if (poller->wake >= 0) close(poller->wake);
        if (poller->epoll >= 0) close(poller->epoll);
        free(poller);
        return NULL;
    }
    return poller;
}

static void epoll_close(struct cst_poller *poller) {
    close(poller->wake);
    close(poller->epoll);
    free(poller->plain);
    free(poller);
}

static void epoll_wake(struct cst_poller *poller) {
    int saved = errno;
    uint64_t one = 1;
    /* EAGAIN means that 2^64-2 wake-ups are pending: then the thread is awake. */
    ssize_t written = write(poller->wake, &one, sizeof one);
    (void)written;
    errno = saved;
}

static bool still_there(const struct plain_file *file) {
    struct stat now;
    return fstat(file->fd, &now) == 0 && now.st_dev == file->device && now.st_ino == file->inode;
}

/* The index of a descriptor in the list, or `count`. The caller holds the lock, as in the functions
 * below. */
static size_t plain_find(const struct cst_poller *poller, int fd) {
    size_t count = cst_load_relaxed(&poller->plain_count), i = 0;
    while (i < count && poller->plain[i].fd != fd) i++;
    return i;
}

static void plain_remove(struct cst_poller *poller, size_t i) {
    uint32_t count = cst_load_relaxed(&poller->plain_count) - 1;
    poller->plain[i] = poller->plain[count];
    /* Relaxed: a waiting thread that sees the old count checks a file in vain. */
    cst_store_relaxed(&poller->plain_count, count);
}

static int plain_append(struct cst_poller *poller, int fd) {
    size_t count = cst_load_relaxed(&poller->plain_count);
    struct stat file;
    if (fstat(fd, &file) != 0) return errno;
    if (count == poller->plain_capacity) {
        size_t capacity = count ? 2 * count : 8;
        struct plain_file *larger = realloc(poller->plain, capacity * sizeof *larger);
        if (larger == NULL) return ENOMEM;
        poller->plain = larger;
        poller->plain_capacity = capacity;
    }
    poller->plain[count] =
        (struct plain_file){.fd = fd, .device = file.st_dev, .inode = file.st_ino};
    cst_store_relaxed(&poller->plain_count, (uint32_t)count + 1); /* plain_set wakes */
    return 0;
}

/* Adds, changes or (mask 0) removes a regular file's entry. If the file is now due for a report,
 * the call wakes the waiting thread, as the kernel does not. */
static int plain_set(struct cst_poller *poller, int fd, uint32_t mask, uint64_t key) {
    cst_event_acquire(&poller->plain_lock);
    size_t i = plain_find(poller, fd);
    bool there = i < cst_load_relaxed(&poller->plain_count);
    int error = there || mask == 0 ? 0 : plain_append(poller, fd);
    if (mask == 0 && there) {
        plain_remove(poller, i);
    } else if (error == 0 && mask != 0) {
        poller->plain[i].mask = mask;
        poller->plain[i].key = key;
    }
    cst_event_release(&poller->plain_lock);
    if (error == 0 && (mask & (CST_POLL_READ | CST_POLL_WRITE))) epoll_wake(poller);
    return error;
}

/* Is the descriptor in the list of regular files, and does it still name that file? If it now names
 * something else, the function removes the entry. */
static bool plain_known(struct cst_poller *poller, int fd, bool *was_plain) {
    *was_plain = false;
    if (cst_load_relaxed(&poller->plain_count) == 0) return false; /* written by `set` alone */
    cst_event_acquire(&poller->plain_lock);
    size_t i = plain_find(poller, fd);
    *was_plain = i < cst_load_relaxed(&poller->plain_count);
    bool known = *was_plain && still_there(&poller->plain[i]);
    if (*was_plain && !known) plain_remove(poller, i);
    cst_event_release(&poller->plain_lock);
    return known;
}

static int epoll_set(struct cst_poller *poller, int fd, bool known, uint32_t mask, uint64_t key) {
    if (known) {
        bool was_plain;
        if (plain_known(poller, fd, &was_plain)) return plain_set(poller, fd, mask, key);
        if (was_plain) return ENOENT;
    }
    struct epoll_event event = {.data.u64 = key};
    if (mask & CST_POLL_READ) event.events |= EPOLLIN;
    if (mask & CST_POLL_WRITE) event.events |= EPOLLOUT;
    if (mask & CST_POLL_HANGUP) event.events |= EPOLLRDHUP;
    if (mask & CST_POLL_EDGE) event.events |= EPOLLET;
    if (mask & CST_POLL_ONESHOT) event.events |= EPOLLONESHOT;
    int operation = mask == 0 ? EPOLL_CTL_DEL : known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(poller->epoll, operation, fd, &event) == 0) return 0;
    if (errno != EPERM) return errno;
    if (known) return ENOENT; /* the file in epoll was closed; this one is regular */
    return plain_set(poller, fd, mask, key);
}

/* Reports the regular files with a watch. One-shot files and closed files are quiet from now on. */
static int plain_report(struct cst_poller *poller, struct cst_ready *ready, int capacity) {
    int filled = 0;
    cst_event_acquire(&poller->plain_lock);
    size_t count = cst_load_relaxed(&poller->plain_count), looked = 0;
    for (; looked < count && filled < capacity; looked++) {
        struct plain_file *file = &poller->plain[(poller->plain_turn + looked) % count];
        if (!still_there(file)) file->mask = 0;
        uint32_t events = file->mask & (CST_POLL_READ | CST_POLL_WRITE);
        if (events == 0) continue;
        ready[filled++] = (struct cst_ready){.key = file->key, .events = events};
        if (file->mask & (CST_POLL_ONESHOT | CST_POLL_EDGE)) file->mask = 0;
    }
    poller->plain_turn += looked;
    cst_event_release(&poller->plain_lock);
    return filled;
}

static bool plain_waits(struct cst_poller *poller) {
    /* Relaxed: a thread that adds or changes a file also wakes this thread. */
    if (cst_load_relaxed(&poller->plain_count) == 0) return false;
    bool waits = false;
    cst_event_acquire(&poller->plain_lock);
    for (size_t i = 0; i < cst_load_relaxed(&poller->plain_count); i++)
        waits = waits || (poller->plain[i].mask & (CST_POLL_READ | CST_POLL_WRITE));
    cst_event_release(&poller->plain_lock);
    return waits;
}

static int kernel_wait(struct cst_poller *poller, struct cst_ready *ready, int capacity,
                       int64_t timeout) {
    struct epoll_event *batch = (struct epoll_event *)ready;
    if (timeout > 0 && !poller->no_pwait2) {
        struct timespec span = {.tv_sec = timeout / 1000000000, .tv_nsec = timeout % 1000000000};
        int count = epoll_pwait2(poller->epoll, batch, capacity, &span, NULL);
        if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
        poller->no_pwait2 = true; /* Linux before 5.11, or a filter that forbids it */
    }
    int64_t ms = timeout <= 0 ? timeout : timeout / 1000000 + (timeout % 1000000 != 0);
    return epoll_wait(poller->epoll, batch, capacity, ms > INT_MAX ? INT_MAX : (int)ms);
}

/* Translates the kernel's events for ends and errors, and leaves wake-ups out. */
static int translate(struct cst_ready *ready, int count) {
    int filled = 0;
    for (int i = 0; i < count; i++) {
        uint32_t kernel = ready[i].events, events = kernel & (CST_POLL_READ | CST_POLL_WRITE);
        if (ready[i].key == WAKE_KEY) continue;
        events |= kernel & (CST_POLL_ERROR | CST_POLL_HANGUP);
        if (kernel & EPOLLRDHUP) events |= CST_POLL_HANGUP | CST_POLL_READ;
        if (kernel & (EPOLLERR | EPOLLHUP)) events |= CST_POLL_READ | CST_POLL_WRITE;
        if (kernel & EPOLLHUP) events |= CST_POLL_ENDED;
        ready[filled].key = ready[i].key;
        ready[filled++].events = events;
    }
    return filled;
}

static int epoll_wait_ready(struct cst_poller *poller, struct cst_ready *ready, int capacity,
                            int64_t timeout) {
    bool plain = plain_waits(poller);
    int room = plain ? capacity - capacity / 2 : capacity; /* regular files always get a part */
    int count = kernel_wait(poller, ready, room, plain ? 0 : timeout < 0 ? -1 : timeout);
    if (count < 0) return errno == EINTR ? 0 : -errno;
    bool usual = true;
    for (int i = 0; i < count; i++) {
        uint32_t unusual = ready[i].events & ~(uint32_t)(CST_POLL_READ | CST_POLL_WRITE);
        usual &= unusual == 0 && ready[i].key != WAKE_KEY;
    }
    if (!usual) count = translate(ready, count);
    return plain ? count + plain_report(poller, ready + count, capacity - count) : count;
}

const struct cst_poller_ops cst_epoll_ops = {
    .name = "epoll",
    .edge = true,
    .open = epoll_open,
    .close = epoll_close,
    .set = epoll_set,
    .wait = epoll_wait_ready,
    .wake = epoll_wake,
};
