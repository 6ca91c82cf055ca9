/* The kqueue back end, compiled against the documented interface. It runs on a stand-in for kevent
 * that keeps the promises of the manual page by poll(2).
 *
 * test: flags -Itests/c/event/kqueue -DCST_KQUEUE_STAND_IN */
#define TEST_OWN_MANAGER
#include "testing.h"

#include "event/manager.h"
#include "event/kqueue.c"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

/* --- the stand-in -------------------------------------------------------------------------- */

enum { MOST = 4096 };

struct knote {
    struct kevent asked; /* the flags of its registration */
    dev_t device;        /* the file that was registered: closing it removes the knote */
    ino_t file;
    bool used, enabled;
    bool fresh;     /* EV_CLEAR: not yet reported */
    int last_bytes; /* EV_CLEAR: the readable bytes at the last report */
    bool triggered; /* EVFILT_USER */
};

static struct {
    pthread_mutex_t lock;
    int fd; /* an open file, so that the number is taken */
    struct knote note[MOST];
    int next; /* the knote where the next search begins */
} queue[64];

static int queue_of(int kq) {
    for (int i = 0; i < 64; i++)
        if (queue[i].fd == kq && kq != 0) return i;
    test_failed(__FILE__, __LINE__, __func__, "no such queue");
}

int kqueue(void) {
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    for (int i = 0; i < 64; i++) {
        if (queue[i].fd != 0 && queue[i].fd != fd) continue;
        memset(&queue[i], 0, sizeof queue[i]);
        pthread_mutex_init(&queue[i].lock, NULL);
        queue[i].fd = fd;
        return fd;
    }
    test_failed(__FILE__, __LINE__, __func__, "too many queues");
}

/* A knote ends when its descriptor is closed; the stand-in notices that at the next look. */
static bool still_there(struct knote *note) {
    struct stat now;
    if (!note->used) return false;
    if (note->asked.filter == EVFILT_USER) return true;
    note->used = fstat((int)note->asked.ident, &now) == 0 && now.st_dev == note->device &&
                 now.st_ino == note->file;
    return note->used;
}

static struct knote *find_note(int q, uintptr_t identity, short filter) {
    for (int i = 0; i < MOST; i++) {
        struct knote *note = &queue[q].note[i];
        if (note->used && note->asked.ident == identity && note->asked.filter == filter)
            return still_there(note) ? note : NULL;
    }
    return NULL;
}

static int add_note(int q, const struct kevent *change) {
    struct knote *note = find_note(q, change->ident, change->filter);
    for (int i = 0; i < MOST && note == NULL; i++) {
        if (queue[q].note[i].used) continue;
        note = &queue[q].note[i];
        *note = (struct knote){.asked = *change, .used = true, .enabled = true, .fresh = true};
    }
    if (note == NULL) return ENOMEM;
    struct stat now;
    if (change->filter != EVFILT_USER) {
        if (fstat((int)change->ident, &now) != 0) {
            note->used = false;
            return EBADF;
        }
        note->device = now.st_dev;
        note->file = now.st_ino;
    }
    /* "Re-adding an existing event will modify the parameters": the parameters are `fflags`, `data`
     * and `udata`, not `flags`. */
    note->asked.fflags = change->fflags;
    note->asked.data = change->data;
    note->asked.udata = change->udata;
    return 0;
}

static int apply(int q, const struct kevent *change) {
    if (change->flags & EV_ADD) {
        int error = add_note(q, change);
        if (error != 0) return error;
    }
    struct knote *note = find_note(q, change->ident, change->filter);
    if (note == NULL) return fcntl((int)change->ident, F_GETFD) < 0 ? EBADF : ENOENT;
    if (change->flags & EV_DELETE) note->used = false;
    if (change->flags & EV_DISABLE) note->enabled = false;
    if (change->flags & EV_ENABLE) note->enabled = true;
    if (change->filter == EVFILT_USER && change->fflags & NOTE_TRIGGER) note->triggered = true;
    return 0;
}

/* Returns whether a knote is active, and fills in its event. */
static bool active(struct knote *note, struct kevent *event) {
    *event = note->asked;
    event->flags = 0;
    event->fflags = 0;
    if (note->asked.filter == EVFILT_USER) {
        bool triggered = note->triggered;
        note->triggered = false;
        return triggered;
    }
    bool reads = note->asked.filter == EVFILT_READ;
    struct pollfd now = {.fd = (int)note->asked.ident,
                         .events = reads ? POLLIN | POLLRDHUP : POLLOUT};
    if (poll(&now, 1, 0) <= 0) return false;
    int bytes = 0;
    if (reads) ioctl(now.fd, FIONREAD, &bytes);
    bool end = now.revents & (POLLRDHUP | POLLHUP | POLLERR);
    if (end) event->flags |= EV_EOF;
    if (!end && note->asked.fflags & NOTE_LOWAT && bytes < note->asked.data) return false;
    if (note->asked.flags & EV_CLEAR) {
        bool more = note->fresh || bytes > note->last_bytes;
        note->fresh = false;
        note->last_bytes = bytes;
        return more;
    }
    return true;
}

static int collect(int q, struct kevent *list, int capacity) {
    int filled = 0, first = queue[q].next;
    for (int n = 0; n < MOST && filled < capacity; n++) {
        int i = (first + n) % MOST;
        struct knote *note = &queue[q].note[i];
        if (!still_there(note) || !note->enabled || !active(note, &list[filled])) continue;
        if (note->asked.flags & EV_DISPATCH) note->enabled = false;
        filled++;
        queue[q].next = i + 1;
    }
    return filled;
}

int kevent(int kq, const struct kevent *changes, int change_count, struct kevent *list,
           int capacity, const struct timespec *timeout) {
    int q = queue_of(kq), receipts = 0, error = 0;
    pthread_mutex_lock(&queue[q].lock);
    for (int i = 0; i < change_count; i++) {
        error = apply(q, &changes[i]);
        if (changes[i].flags & EV_RECEIPT || (error != 0 && receipts < capacity)) {
            list[receipts] = changes[i];
            list[receipts].flags = EV_ERROR;
            list[receipts++].data = error;
            error = 0;
        }
    }
    pthread_mutex_unlock(&queue[q].lock);
    if (receipts > 0) return receipts;
    if (error != 0) {
        errno = error;
        return -1;
    }
    int64_t left = timeout == NULL ? INT64_MAX
                                   : timeout->tv_sec * 1000 + (timeout->tv_nsec + 999999) / 1000000;
    for (; capacity > 0; left--) {
        pthread_mutex_lock(&queue[q].lock);
        int filled = collect(q, list, capacity);
        pthread_mutex_unlock(&queue[q].lock);
        if (filled > 0 || left <= 0) return filled;
        poll(NULL, 0, 1);
    }
    return 0;
}

/* --- the tests ------------------------------------------------------------------------------ */

static struct capstan_manager *new_manager(const char *back_end) {
    int error;
    struct capstan_manager *manager =
        cst_manager_make(strcmp(back_end, "kqueue") == 0 ? &cst_kqueue_ops : NULL, &error);
    CHECK(manager != NULL);
    return manager;
}

#include "descriptor_tests.h"

/* A descriptor was closed, and its number names another file: kqueue has forgotten the
 * descriptor. */
static void closed_and_reused(void) {
    capstan_manager *manager = new_manager("kqueue");
    int old[2], fresh[2];
    struct seen first = {0}, second = {0};
    make_pipe(old);
    make_pipe(fresh);
    int number = old[0];
    CHECK_EQ(capstan_fd_register(manager, number, CAPSTAN_READ, note, &first, NULL), 0);
    close(number);
    put(fresh[1], "x");
    CHECK(dup2(fresh[0], number) == number);
    CHECK_EQ(run_all(manager), 0);
    CHECK_EQ(
        capstan_fd_register(manager, number, CAPSTAN_READ | CAPSTAN_ONESHOT, note, &second, NULL),
        0);
    CHECK_EQ(run_all(manager), 2);
    CHECK_EQ(first.events, CAPSTAN_CLOSED);
    CHECK_EQ(second.events, CAPSTAN_READ);
    close(number);
    close(old[1]);
    close_pipe(fresh);
    capstan_manager_free(manager);
}

/* One registration for both filters gives one report, and a one-shot is then silent in both. */
static void both_filters(void) {
    capstan_manager *manager = new_manager("kqueue");
    int pair[2];
    struct seen seen = {0};
    unsigned both = CAPSTAN_READ | CAPSTAN_WRITE;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    put(pair[1], "x");
    CHECK_EQ(capstan_fd_register(manager, pair[0], both, note, &seen, NULL), 0);
    CHECK_EQ(step(manager), 1);
    CHECK_EQ(seen.events, both);
    CHECK_EQ(capstan_fd_unregister(manager, seen.watch), 0);
    CHECK_EQ(drain(pair[0]), 1);
    CHECK_EQ(capstan_fd_register(manager, pair[0], both | CAPSTAN_ONESHOT, note, &seen, NULL), 0);
    CHECK_EQ(step(manager), 1);
    CHECK_EQ(seen.events, CAPSTAN_WRITE);
    put(pair[1], "y");
    CHECK_EQ(run_all(manager), 0);
    close_pipe(pair);
    capstan_manager_free(manager);
}

static void *post_later(void *data) {
    pause_ms(20);
    static int counted;
    CHECK_EQ(capstan_post(data, count_post, &counted), 0);
    return NULL;
}

static void woken(void) {
    capstan_manager *manager = new_manager("kqueue");
    pthread_t thread;
    unsigned calls = 0;
    CHECK(pthread_create(&thread, NULL, post_later, manager) == 0);
    while (calls == 0) CHECK_EQ(capstan_step(manager, CAPSTAN_FOREVER, &calls), 0);
    pthread_join(thread, NULL);
    CHECK_EQ(statistics(manager).wake_ups, 1);
    capstan_manager_free(manager);
}

int main(void) {
    test_limit(60);
    test_descriptors("kqueue");
    closed_and_reused();
    both_filters();
    woken();
    return 0;
}
