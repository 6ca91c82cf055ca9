/* The event manager's state, shared by the files of this folder.
 *
 * Two locks. `fd_lock` guards descriptors and registrations and is held over the system call that
 * tells the kernel, so that the kernel's set and ours cannot differ. `lock` guards timers, posts
 * and the loop's state of sleep. Order: fd_lock before lock. No lock is held while a function of
 * the user runs. A persistent registration that is alone on its descriptor is delivered without a
 * lock (deliver.h). */
#ifndef CST_EVENT_MANAGER_H
#define CST_EVENT_MANAGER_H

#include "capstan.h"
#include "event/lock.h"
#include "event/poller.h"
#include "event/table.h"
#include "event/wheel.h"
#include "platform/check.h"

enum {
    CST_EVENT_BATCH = 1024,       /* ready descriptors taken from the kernel at once */
    CST_EVENT_TIMER_BUDGET = 512, /* timers handled before descriptors are served again */
    CST_EVENT_INTEREST = CAPSTAN_READ | CAPSTAN_WRITE | CAPSTAN_HANGUP,
    CST_EVENT_MODES = CAPSTAN_ONESHOT | CAPSTAN_EDGE,
};

_Static_assert((int)CAPSTAN_READ == CST_POLL_READ && (int)CAPSTAN_WRITE == CST_POLL_WRITE &&
                   (int)CAPSTAN_ERROR == CST_POLL_ERROR && (int)CAPSTAN_HANGUP == CST_POLL_HANGUP &&
                   (int)CAPSTAN_ONESHOT == CST_POLL_ONESHOT && (int)CAPSTAN_EDGE == CST_POLL_EDGE,
               "masks go to the back end as they are");

/* A registration. Atomics are read by the driver without the lock, between two reads of the
 * generation (a sequence lock), and written under fd_lock; the rest needs fd_lock. */
struct cst_watch {
    struct cst_entry entry;    /* next: of the same descriptor, or CST_TABLE_NONE */
    _Atomic uint32_t interest; /* events asked for; 0: none for now */
    _Atomic uint32_t direct;   /* events delivered without the lock; 0: none */
    _Atomic(capstan_fd_function *) function;
    _Atomic(void *) data;
    _Atomic int32_t fd;
    uint32_t modes;  /* CAPSTAN_ONESHOT, CAPSTAN_EDGE */
    uint32_t closed; /* nonzero: in the list of registrations that get CAPSTAN_CLOSED */
    uint32_t unused[5];
};
_Static_assert(sizeof(struct cst_watch) == CST_TABLE_OBJECT, "in a table");

/* A descriptor, by number. Guarded by fd_lock. */
struct cst_descriptor {
    uint32_t first; /* registration, or CST_TABLE_NONE */
    uint32_t mask;  /* the mask in the back end; 0: none. ONESHOT alone: known and quiet, as it has
                     * fired, or no registration wants an event now */
    uint64_t key;   /* the registration that the back end's reports name */
};

/* Guarded by lock. */
struct cst_timer {
    struct cst_entry entry;
    struct cst_wheel_node node;
    uint64_t period;
    capstan_timer_function *function;
    void *data;
    uint32_t index;
    uint32_t unused;
};
_Static_assert(sizeof(struct cst_timer) == CST_TABLE_OBJECT, "in a table");

struct cst_post {
    capstan_post_function *function;
    void *data;
};

struct cst_post_list {
    struct cst_post *item;
    size_t count, next, capacity; /* next: the first one that has not run */
};

/* The registrations that want one report of the kernel. For the driver alone. */
struct cst_wanting {
    uint64_t *id;
    size_t count, next, capacity;
    unsigned events;
    int fd;
};

/* Rare work that the driver does between two batches. */
enum {
    CST_CHORE_CLOSED = 1,  /* registrations wait for CAPSTAN_CLOSED */
    CST_CHORE_REBUILD = 2, /* the kernel's set must be remade */
    CST_CHORE_RETURN = 4,  /* the present or next wait returns */
};

/* The watch for calls that take too long. For the driver alone. */
struct cst_slow_meter {
    uint64_t began;               /* coarse time of the last check */
    unsigned calls, every;        /* calls since then; number until the next check */
    unsigned precise;             /* batches of which each call is checked */
    unsigned waits;               /* possible sleeps of the driver since `base` */
    uint64_t base_at;             /* coarse time of `base` */
    struct cst_thread_usage base; /* not later than the begin of the calls */
};

struct cst_statistics {
    _Atomic uint64_t turns, fd_calls, timer_calls, post_calls; /* driver */
    _Atomic uint64_t stale, rebuilds;                          /* under fd_lock */
    _Atomic uint64_t wake_ups;                                 /* under lock */
    _Atomic uint64_t slow_calls, slowest_ns;                   /* driver */
};

/* Adds to a statistic that has one writer at a time. Relaxed: it orders nothing. */
#define CST_COUNT(counter, n) cst_store_relaxed(&(counter), cst_load_relaxed(&(counter)) + (n))

struct capstan_manager {
    const struct cst_poller_ops *ops; /* constant, down to slow_data */
    bool pull;
    bool is_default;
    uint64_t slow_limit;
    capstan_slow_function *slow;
    void *slow_data;
    struct cst_poller *poller; /* replaced by the driver under both locks */

    /* Written by the driver, read by any thread. */
    CST_LINE_ALIGNED _Atomic uintptr_t driver; /* the thread that drives; 0: none */
    _Atomic uint32_t batch;                    /* batches of calls begun; capstan_quiesce waits */
    _Atomic uint32_t quiescing;                /* threads that wait so; written by them */
    _Atomic uint64_t calling_since;            /* coarse time; 0: no function is being called */
    _Atomic(void *) calling;                   /* the function */
    _Atomic int32_t calling_fd;
    _Atomic uint32_t stuck_batch; /* batch with a call that was reported as still running */
    _Atomic uint32_t warned;      /* the default warning was given */

    CST_LINE_ALIGNED struct cst_event_lock lock;
    bool woken;              /* the driver was woken from its present sleep */
    bool outstanding;        /* records were pulled and the next pull has not begun */
    uint64_t sleeping_until; /* ns; 0: awake, will check before it sleeps */
    struct cst_table timers;
    _Atomic uint32_t
        ended_timers; /* pull: cancelled, data not yet returned; linked by entry.next */
    uint32_t ended_timer_count;
    struct cst_post_list posts;
    struct cst_wheel wheel;
    uint64_t now; /* time of the last advance of the wheel */

    CST_LINE_ALIGNED struct cst_event_lock fd_lock;
    struct cst_table watches;
    struct cst_descriptor *descriptors;
    size_t descriptor_count;
    _Atomic uint32_t closed; /* registrations that get CAPSTAN_CLOSED; linked by entry.next */
    _Atomic uint32_t ended_watches; /* pull: unregistered, data not yet returned */
    uint32_t ended_watch_count;
    bool zombies; /* a closed file may still be in the kernel's set */

    CST_LINE_ALIGNED _Atomic uint32_t stopping; /* capstan_shutdown was called; under both locks */
    _Atomic uint32_t chores;
    _Atomic uint32_t forked; /* this is a child; `poller` is still the parent's */

    /* For the driver alone. */
    CST_LINE_ALIGNED struct cst_ready ready[CST_EVENT_BATCH];
    const struct cst_ready *ready_next, *ready_end;
    struct cst_post_list running; /* posts taken for the present batch */
    struct cst_wanting wanting;
    struct cst_slow_meter meter;
    struct cst_statistics statistics;

    struct capstan_manager *next, *previous; /* all managers; registry.c */
};

/* --- manager.c --- */
/* With NULL ops: the best back end here. Returns NULL, with an errno value, on failure. */
struct capstan_manager *cst_manager_make(const struct cst_poller_ops *ops, int *error);
/* Frees memory and descriptors; calls no function of the user. */
void cst_manager_destroy(struct capstan_manager *manager);

/* --- loop.c --- */
/* Wakes the driver if it sleeps beyond `when` (ns; 0: at once). `lock` is held. */
void cst_loop_wake(struct capstan_manager *manager, uint64_t when);
/* Sets chores and wakes the driver. `lock` is free; fd_lock may be held. */
void cst_loop_add_chore(struct capstan_manager *manager, uint32_t chore);
/* Becomes the driver; EBUSY if there is one. */
int cst_loop_enter(struct capstan_manager *manager);
void cst_loop_leave(struct capstan_manager *manager);
/* Asks the kernel once, and collects the due calls. Errno value. */
int cst_loop_collect(struct capstan_manager *manager, uint64_t timeout);
/* Takes the posts for the present batch, if none is left of the last batch. `lock` is held. */
void cst_loop_take_posts(struct capstan_manager *manager);
/* Makes all collected calls. Returns their number. */
unsigned cst_loop_dispatch(struct capstan_manager *manager);
/* The body of capstan_loop. */
int cst_loop_run(struct capstan_manager *manager);

/* A due call of a registration; see deliver.h. */
struct cst_delivery {
    uint64_t id;
    capstan_fd_function *function;
    void *data;
    int fd;
    unsigned events;
    bool last; /* the registration has ended */
};

/* --- watch.c --- */
/* Collects the registrations that want a report of the back end into manager->wanting. True: it is
 * a single one-shot, which is taken. */
bool cst_watch_find(struct capstan_manager *manager, const struct cst_ready *ready,
                    struct cst_delivery *delivery);
/* Takes a registration for delivery; a one-shot ends. False: it has ended, or wants none of the
 * events. */
bool cst_watch_take(struct capstan_manager *manager, uint64_t id, unsigned events,
                    struct cst_delivery *delivery);
/* After deliveries: tells the back end the events that the descriptor still waits for. */
void cst_watch_settle(struct capstan_manager *manager, int fd);
/* Takes a registration that ended because its descriptor was closed. */
bool cst_watch_take_closed(struct capstan_manager *manager, struct cst_delivery *delivery);
/* Pull: takes the data of a registration that was ended by a call. */
bool cst_watch_take_ended(struct capstan_manager *manager, struct cst_delivery *delivery);
void cst_watch_close_fd(struct capstan_manager *manager, int fd);
/* Ends the registrations of a descriptor if it now names another file than the registered one. */
void cst_watch_verify_fd(struct capstan_manager *manager, int fd);
void cst_watch_close_all(struct capstan_manager *manager);

/* For a rebuild; fd_lock held. The first asks the back end whether each descriptor still names its
 * registered file, and ends the registrations of the others. The second adds all registrations to
 * an empty back end. */
void cst_watch_verify(struct capstan_manager *manager);
void cst_watch_register_again(struct capstan_manager *manager);

/* --- rebuild.c --- */
/* In the child of a fork: makes a new poller. fd_lock held. Errno value. */
int cst_rebuild_forked(struct capstan_manager *manager);
static inline int cst_rebuild_after_fork(struct capstan_manager *manager) {
    /* Relaxed: the only thread of a child sets it, before it can make other threads. */
    return cst_unlikely(cst_load_relaxed(&manager->forked)) ? cst_rebuild_forked(manager) : 0;
}
/* Removes closed files from the kernel's set. Called by the driver; no lock held. */
int cst_rebuild(struct capstan_manager *manager);

/* --- timer.c --- */
struct cst_expiry {
    uint64_t id;
    capstan_timer_function *function;
    void *data;
    uint64_t expirations;
    bool last; /* the timer has ended */
};
bool cst_timer_take(struct capstan_manager *manager, struct cst_expiry *expiry);
/* Takes any timer, with 0 expirations. */
bool cst_timer_take_any(struct capstan_manager *manager, struct cst_expiry *expiry);
/* Pull: takes the data of a timer that was cancelled. */
bool cst_timer_take_ended(struct capstan_manager *manager, struct cst_expiry *expiry);

/* --- post.c --- */
bool cst_post_take(struct capstan_manager *manager, struct cst_post *post);

/* --- pull.c --- */
/* Visible: GHC inlines calls of these functions into programs, which then need the names. */
#pragma GCC visibility push(default)
/* For Haskell: makes a manager that capstan_pull drives. Errno value. */
int cst_manager_new_pull(struct capstan_manager **manager);
/* Registers a descriptor, or starts a timer, without a function. Returns its name, or an errno
 * value, which is below any name, since no generation is 0. */
uint64_t cst_pull_register(struct capstan_manager *manager, int fd, unsigned events, void *data);
uint64_t cst_pull_start_timer(struct capstan_manager *manager, uint64_t deadline, uint64_t period,
                              void *data);
/* Ends a manager as capstan_manager_free does, but keeps its own memory. A thread that still has
 * the pointer may call all functions, and gets ESHUTDOWN or ENOENT. The caller later calls
 * capstan_manager_free. EBUSY: a thread drives it. */
int cst_manager_end(struct capstan_manager *manager);
/* Makes the present or next waiting capstan_pull return. */
void cst_manager_wake(struct capstan_manager *manager);
#pragma GCC visibility pop

/* --- slow.c --- */
/* Begins a batch of calls. */
void cst_slow_begin(struct capstan_manager *manager);
/* Checks whether one of the last calls took too long. */
void cst_slow_check(struct capstan_manager *manager);
/* Ends the batch. */
void cst_slow_end(struct capstan_manager *manager);
/* Pull: the host begins to call the functions of these records; the host has finished with them. */
void cst_slow_pulled(struct capstan_manager *manager, const struct capstan_record *records,
                     unsigned count);
void cst_slow_returned(struct capstan_manager *manager);
/* Called by any thread that uses the manager: checks whether the driver is stuck in a call. */
void cst_slow_look_closer(struct capstan_manager *manager);
static inline void cst_slow_look(struct capstan_manager *manager) {
    /* Relaxed: a hint. */
    if (cst_load_relaxed(&manager->calling_since) != 0) cst_slow_look_closer(manager);
}

/* --- registry.c: all managers of the process --- */
int cst_registry_add(struct capstan_manager *manager);
void cst_registry_remove(struct capstan_manager *manager);

/* --- default.c --- */
/* In the child of a fork: forgets managers whose threads are gone. */
void cst_default_after_fork(void);

/* --- thread.c --- */
/* Makes a detached thread with all signals blocked. Errno value. */
int cst_event_spawn(void (*body)(void *), void *argument);

#endif
