/* The contract between the event manager and a way to ask the kernel what is ready.
 *
 * One file per back end: epoll.c, poll.c, kqueue.c. A back end knows descriptors, masks and keys;
 * it knows nothing of callbacks. `open`, `close` and `wait` are called by one thread at a time;
 * `set` and `wake` from any thread, also while another waits. The caller serialises the calls of
 * `set` for one poller. Errors are errno values; errno itself is not kept. */
#ifndef CST_EVENT_POLLER_H
#define CST_EVENT_POLLER_H

#include "numbers.h"

#include <stdbool.h>
#include <stdint.h>

/* What may be asked for and reported; the values of CAPSTAN_READ and so on in capstan.h. */
enum {
    CST_POLL_READ = 1 << 0,   /* read would not block (data, end of file, a connection) */
    CST_POLL_WRITE = 1 << 2,  /* write would not block */
    CST_POLL_ERROR = 1 << 3,  /* reported only; never asked for */
    CST_POLL_HANGUP = 1 << 4, /* the peer has closed its side */
    CST_POLL_ENDED = 1 << 6,  /* reported only, with HANGUP: both sides are closed */
    /* How to report. */
    CST_POLL_ONESHOT = 1 << 8, /* once, then nothing until the next `set` */
    CST_POLL_EDGE = 1 << 9,    /* when readiness begins or more arrives, not while it lasts */
};

/* As struct epoll_event is: so the kernel writes reports where they are read. */
struct cst_ready {
    uint32_t events; /* an end or an error is also reported as READ and WRITE: neither blocks */
    uint64_t key;
} CST_EPOLL_LAYOUT;

struct cst_poller; /* each back end has its own */

struct cst_poller_ops {
    const char *name;
    bool edge; /* CST_POLL_EDGE is understood */

    /* NULL with an errno value in *error. */
    struct cst_poller *(*open)(int *error);

    /* Also in the child of a fork, where it must leave the parent's poller as it is. */
    void (*close)(struct cst_poller *poller);

    /* Says what to report about a descriptor, and under which key.
     *   known == false: the descriptor is new here.
     *   known == true: an earlier `set` added it. ENOENT or EBADF: that file was closed since.
     *   mask == CST_POLL_ONESHOT: it stays known and is quiet; an end may be reported, once.
     *   mask == 0: forget it. Of a number that was never added it only says whether that is open
     *     (EBADF if not), and takes no memory.
     * If the descriptor is ready at the time of the call, the next `wait` reports it.
     * Returns 0, EBADF, ENOENT, EEXIST (known == false, but it was added), ENOMEM, ENOSPC, or
     * ENOTSUP (edge). Regular files, which never block, are always ready. */
    int (*set)(struct cst_poller *poller, int fd, bool known, uint32_t mask, uint64_t key);

    /* Waits until something is ready, `wake` is called or `timeout` ns have passed (negative: for
     * ever; 0: does not block). Returns the number of entries written to `ready` (at most
     * `capacity`), 0 also when interrupted by a signal or by `wake`, or a negative errno value.
     * Times are kept to the nanosecond where the kernel can, else rounded up. */
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
