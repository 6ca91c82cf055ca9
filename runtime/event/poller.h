/* The contract between the event manager and a back end, which asks the kernel for ready
 * descriptors.
 *
 * There is one file per back end: epoll.c, poll.c, kqueue.c. A back end knows descriptors, masks
 * and keys, but no callbacks. One thread at a time calls `open`, `close` and `wait`. Any thread
 * calls `set` and `wake`, also while another thread waits. The caller serialises the calls of `set`
 * for one poller. Errors are errno values; errno itself is not preserved. */
#ifndef CST_EVENT_POLLER_H
#define CST_EVENT_POLLER_H

#include "numbers.h"

#include <stdbool.h>
#include <stdint.h>

/* Events to request and to report; the values equal CAPSTAN_READ and so on in capstan.h. */
enum {
    CST_POLL_READ = 1 << 0,   /* read would not block (data, end of file, a connection) */
    CST_POLL_WRITE = 1 << 2,  /* write would not block */
    CST_POLL_ERROR = 1 << 3,  /* reported only; never requested */
    CST_POLL_HANGUP = 1 << 4, /* the peer has closed its side */
    CST_POLL_ENDED = 1 << 6,  /* reported only, with HANGUP: both sides are closed */
    /* The manner of reporting. */
    CST_POLL_ONESHOT = 1 << 8, /* once, then nothing until the next `set` */
    CST_POLL_EDGE = 1 << 9,    /* when readiness begins or data arrives, not while it lasts */
};

/* Has the layout of struct epoll_event, so that the kernel writes reports in place. */
struct cst_ready {
    uint32_t events; /* an end or an error includes READ and WRITE: neither blocks */
    uint64_t key;
} CST_EPOLL_LAYOUT;

struct cst_poller; /* each back end has its own */

struct cst_poller_ops {
    const char *name;
    bool edge; /* CST_POLL_EDGE is supported */

    /* Returns NULL with an errno value in *error on failure. */
    struct cst_poller *(*open)(int *error);

    /* Also called in the child of a fork, where it must leave the parent's poller unchanged. */
    void (*close)(struct cst_poller *poller);

    /* Sets the events to report for a descriptor, and the key of its reports.
     *   - known == false: the descriptor is new here.
     *   - known == true: an earlier `set` added it. ENOENT or EBADF: that file was closed
     *     meanwhile.
     *   - mask == CST_POLL_ONESHOT: it stays known and is quiet; an end may be reported once.
     *   - mask == 0: removes it. For a number that was never added, it only checks whether the
     *     number is open (EBADF if not), and takes no memory.
     *
     * If the descriptor is ready at the time of the call, the next `wait` reports it. Returns 0,
     * EBADF, ENOENT, EEXIST (known == false, but it was added), ENOMEM, ENOSPC, or ENOTSUP (edge).
     * Regular files, which never block, are always ready. */
    int (*set)(struct cst_poller *poller, int fd, bool known, uint32_t mask, uint64_t key);

    /* Waits until a descriptor is ready, `wake` is called, or `timeout` ns have passed (negative:
     * for ever; 0: does not block). Returns the number of entries written to `ready`, at most
     * `capacity`, or a negative errno value. The number is 0 also if a signal or `wake` interrupted
     * the wait. Times are exact to the nanosecond if the kernel supports it, else rounded up. */
    int (*wait)(struct cst_poller *poller, struct cst_ready *ready, int capacity, int64_t timeout);

    /* Makes the present or next `wait` return. Async-signal-safe. */
    void (*wake)(struct cst_poller *poller);
};

#if defined(__linux__)
extern const struct cst_poller_ops cst_epoll_ops;
#endif
extern const struct cst_poller_ops cst_poll_ops;
/* On BSD and macOS, and wherever CST_KQUEUE names a stand-in header. */
extern const struct cst_poller_ops cst_kqueue_ops;

#endif
