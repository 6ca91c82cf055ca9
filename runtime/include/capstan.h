/* Capstan's public C interface.
 *
 * Every function is thread-safe unless it says otherwise. Functions that can fail return 0 or an
 * errno value; errno itself may change. Times are in nanoseconds of the monotonic clock, which does
 * not advance while the machine is suspended. */
#ifndef CAPSTAN_H
#define CAPSTAN_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CAPSTAN_API __attribute__((visibility("default")))
#else
#define CAPSTAN_API
#endif

#define CAPSTAN_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Events and timers -------------------------------------------------------------------
 *
 * A manager watches descriptors, keeps timers, accepts posted calls, and calls functions when one
 * of them is due. One thread at a time drives it (capstan_loop or capstan_step); all functions that
 * it calls run on that thread. Any thread may register, change, cancel and post.
 *
 *   capstan_manager *m;
 *   capstan_manager_new(&m, NULL);
 *   capstan_fd_register(m, fd, CAPSTAN_READ, on_readable, data, NULL);
 *   capstan_loop(m);
 *
 * A program that wants no loop of its own uses capstan_manager_default().
 *
 * Rules for functions that a manager calls:
 *  - They may call every function of this section that does not exclude it, and may unregister
 *    themselves and others. A registration or timer that was ended on the manager's thread is not
 *    called any more, even if it was already due.
 *  - They should not block: all other calls of that manager wait. A call that takes longer than the
 *    manager's limit (50 ms unless set otherwise) is counted and reported.
 *  - They must not leave by a C++ exception or longjmp.
 *  - They need not preserve errno.
 *
 * Descriptors: a program must end the registrations of a descriptor before it closes the
 * descriptor, or use capstan_fd_close. A descriptor that is closed while it is registered gives no
 * more events, unless a copy of it (dup, fork) is open. When its number is registered again, the
 * old registrations get CAPSTAN_CLOSED. The back end "poll" knows a file only by its number. There
 * the old registration gets CAPSTAN_ERROR once, or the events of the file that has the number by
 * then.
 *
 * Time: deadlines are CLOCK_MONOTONIC's. Changes of the machine's clock, leap seconds and time
 * zones have no effect. While the machine is suspended no time passes: the rest of a delay follows
 * after the resume, and a periodic timer misses no period. If the process was stopped for a while,
 * all due calls come at once, in order, a periodic timer once with the number of its periods. The
 * monotonic clock itself may go back for a child that is forked into another time namespace.
 * Deadlines then keep their values, by the clock as it is then.
 *
 * Fork: in the child, a manager that the program drives itself keeps its registrations, its timers,
 * and its posted calls that have not run. The parent's manager is not affected. The default
 * managers start empty in the child. A function that a default manager calls may fork, but must not
 * return in the child. After vfork or a bare clone only exec is allowed.
 *
 * Out of descriptors (EMFILE, ENFILE): to make a manager takes two descriptors and can fail; all
 * other functions continue to work. */

typedef struct capstan_manager capstan_manager;
typedef uint64_t capstan_watch; /* names a registration; 0 names none; not soon reused */
typedef uint64_t capstan_timer; /* names a timer; 0 names none */

/* The events to watch for, and the reported events. */
enum {
    CAPSTAN_READ = 1,    /* reading will not block: data, a connection to accept, end of file */
    CAPSTAN_WRITE = 4,   /* writing will not block */
    CAPSTAN_ERROR = 8,   /* always reported: the descriptor has an error */
    CAPSTAN_HANGUP = 16, /* the peer closed its side. If both sides are closed, it is always
                          * reported. For the writing end of a pipe without readers, Linux reports
                          * ERROR instead */
    CAPSTAN_CLOSED = 32, /* reported only: the registration has ended because the descriptor was
                            closed or the manager was freed */

    /* The manner of watching. Without these, watching is level-triggered and persistent: the
     * function is called repeatedly while the descriptor is ready, until it is unregistered. */
    CAPSTAN_ONESHOT = 256, /* once; then the registration has ended */
    CAPSTAN_EDGE = 512     /* when readiness begins or more data arrives. The function must read or
                            * write until EAGAIN, or accept one call per arrival */
};

#define CAPSTAN_FOREVER UINT64_MAX

/* The number of forks by which this process descends from the first one: 0 in the first process, 1
 * in its children, and so on. For hosts that must make their threads anew. */
CAPSTAN_API unsigned capstan_forks(void);

/* `events` has only requested bits, and ERROR, HANGUP and CLOSED. */
typedef void capstan_fd_function(capstan_manager *manager, capstan_watch watch, int fd,
                                 unsigned events, void *data);
/* `expirations`: 1 for a one-time timer; for a periodic one the number of periods that have passed
 * since the last call; 0: the manager was freed before the timer fired. */
typedef void capstan_timer_function(capstan_manager *manager, capstan_timer timer,
                                    uint64_t expirations, void *data);
typedef void capstan_post_function(capstan_manager *manager, void *data);

/* A function that the manager called and that took too long; see slow_limit below. Time in which
 * other threads had its processor does not count against it. */
struct capstan_slow {
    uint64_t elapsed_ns; /* until now, if it still runs; exact to a few milliseconds */
    int still_running;   /* noticed, after ten times the limit, by a thread that registers, starts
                          * or posts on this manager. Without such a thread, it is reported when the
                          * function returns */
    int fd;              /* the descriptor of the call, or -1 */
    void (*function)(void);
    unsigned candidates; /* usually 1. Otherwise the slow call is one of this number of calls, and
                          * this is the last of them */
};
typedef void capstan_slow_function(capstan_manager *manager, const struct capstan_slow *slow,
                                   void *data);

/* A structure of zeros, or a NULL pointer to it, gives the defaults. */
struct capstan_manager_options {
    size_t size;          /* sizeof(struct capstan_manager_options); 0: as in version 0.1 */
    const char *back_end; /* "epoll", "poll", "kqueue", or NULL: the best one here */
    uint64_t slow_limit;  /* ns that a function may take. 0: 50 ms; with `pull`, 500 ms for all
                           * records of a pull together. CAPSTAN_FOREVER: no limit. Below 20 ms the
                           * clock is too coarse */
    capstan_slow_function *slow; /* called for a slow function, on the thread that noticed it. NULL:
                                  * one warning per manager on standard error */
    void *slow_data;
    int pull; /* nonzero: only capstan_pull drives it */
};

/* Makes a manager. Costs two descriptors and about 30 KiB.
 * Errors: ENOMEM, EMFILE, ENFILE, EINVAL (unknown back end or too large a `size`). */
CAPSTAN_API int capstan_manager_new(capstan_manager **manager,
                                    const struct capstan_manager_options *options);

/* Ends a manager that no thread drives and no other call uses. Posted calls are run on the calling
 * thread. Remaining registrations get CAPSTAN_CLOSED, and timers that have not fired get 0
 * expirations, each once, on that thread too. EBUSY: it is a default manager, or one of its own
 * functions calls. */
CAPSTAN_API int capstan_manager_free(capstan_manager *manager);

/* The manager that serves the calling thread's processor. A thread of Capstan's own drives it,
 * which is made on first use and sleeps while nothing is due. There is one manager for each
 * processor that the process may use, and at most 16. NULL when it cannot be made (no descriptors,
 * no threads); the next call tries again. Costs about 5 ns. Not for signal handlers. */
CAPSTAN_API capstan_manager *capstan_manager_default(void);

/* Name of the back end: "epoll", "poll", "kqueue". */
CAPSTAN_API const char *capstan_manager_back_end(const capstan_manager *manager);

/* Watches a descriptor. `events`: READ, WRITE, HANGUP, or several, with ONESHOT and EDGE if wanted.
 * A descriptor may have several registrations, each with its own function. Either all or none of
 * them must be EDGE (EINVAL). A further registration of an EDGE descriptor may repeat an edge.
 * Regular files are always ready. `watch` may be NULL; it is written before the function can be
 * called. One system call (about 0.3 us), and a wake-up only if the back end needs one. Errors:
 * EBADF, EINVAL, ENOMEM, ENOSPC (the user's limit on epoll watches), ENOTSUP (EDGE on poll),
 * ESHUTDOWN. */
CAPSTAN_API int capstan_fd_register(capstan_manager *manager, int fd, unsigned events,
                                    capstan_fd_function *function, void *data,
                                    capstan_watch *watch);

/* Changes the events of a registration (READ, WRITE, HANGUP; ONESHOT and EDGE stay). 0 events: it
 * watches for nothing until it is changed again. The manager also looks again: an EDGE registration
 * that is ready is reported once more. Errors: ENOENT (no such registration, or it has ended),
 * EINVAL, and those of the system. */
CAPSTAN_API int capstan_fd_change(capstan_manager *manager, capstan_watch watch, unsigned events);

/* Ends a registration. 0: its function is not called any more. A call that a persistent
 * registration has already begun on another thread may still run: see capstan_quiesce. ENOENT: it
 * had ended before; for a ONESHOT, its function was called or is about to be called. Exactly one of
 * the two results holds. */
CAPSTAN_API int capstan_fd_unregister(capstan_manager *manager, capstan_watch watch);

/* Ends all registrations of a descriptor; each gets CAPSTAN_CLOSED. With a NULL manager: the
 * registrations with all managers. For a descriptor that is about to be closed by other means than
 * close; the caller then calls capstan_fd_closed. */
CAPSTAN_API void capstan_fd_unregister_all(capstan_manager *manager, int fd);

/* Called after a descriptor was closed by other means. Ends the registrations that have come since
 * capstan_fd_unregister_all; each gets CAPSTAN_CLOSED. Registrations of a new file with that
 * number, or of a descriptor that is still open, stay. With a NULL manager: the registrations with
 * all managers. Costs a system call for each manager with a registration of that number. */
CAPSTAN_API void capstan_fd_closed(capstan_manager *manager, int fd);

/* Ends all registrations of a descriptor, and closes it; each registration gets CAPSTAN_CLOSED. A
 * registration that comes meanwhile gets it as well, or is refused (EBADF). With a NULL manager:
 * the registrations with all managers. Errors: those of close; the registrations have ended even
 * then. */
CAPSTAN_API int capstan_fd_close(capstan_manager *manager, int fd);

/* Calls a function once, `delay` ns from now, or, if `period` is not 0, then and every `period` ns
 * after. Never early. Late by at most 65 536 ns, plus the kernel's time to wake the manager's
 * thread, plus the time of functions called before it. Linux adds up to 50 us of slack to a
 * wake-up. Periods are counted from the first deadline, so there is no drift. Missed periods are
 * one call. `timer` may be NULL. Costs about 50 ns at any number of timers, 30 of them to read the
 * clock, plus a system call if the manager sleeps and must now wake earlier. Errors: ENOMEM, EINVAL
 * (no function), ESHUTDOWN. */
CAPSTAN_API int capstan_timer_start(capstan_manager *manager, uint64_t delay, uint64_t period,
                                    capstan_timer_function *function, void *data,
                                    capstan_timer *timer);

/* As capstan_timer_start, with a deadline in the time of capstan_clock: for callers that know the
 * time already and start many timers. Costs about 20 ns. */
CAPSTAN_API int capstan_timer_start_at(capstan_manager *manager, uint64_t deadline, uint64_t period,
                                       capstan_timer_function *function, void *data,
                                       capstan_timer *timer);

/* Moves a timer that has not fired to `delay` ns from now; its period stays. Costs about 30 ns; a
 * move to a later time touches the timer alone. ENOENT: it has fired or was cancelled. */
CAPSTAN_API int capstan_timer_reschedule(capstan_manager *manager, capstan_timer timer,
                                         uint64_t delay);

/* Cancels a timer. 0: its function is not called any more; a call of a periodic timer that has
 * begun on another thread may still run. ENOENT: it has fired, is about to fire, or was cancelled.
 * Costs about 15 ns. */
CAPSTAN_API int capstan_timer_cancel(capstan_manager *manager, capstan_timer timer);

/* Calls a function once on the manager's thread, in the order of posting. Costs about 20 ns, plus a
 * system call if the manager sleeps. Errors: ENOMEM, EINVAL, ESHUTDOWN. */
CAPSTAN_API int capstan_post(capstan_manager *manager, capstan_post_function *function, void *data);

/* Drives the manager until capstan_shutdown, then returns 0. Blocks, asleep in the kernel while
 * nothing is due. EBUSY: another thread drives it, or one of its own functions calls. EINVAL: it
 * was made for capstan_pull, or is a default manager. */
CAPSTAN_API int capstan_loop(capstan_manager *manager);

/* One turn: waits at most `timeout` ns for work, and calls the functions that are due. If `calls`
 * is not NULL, *calls becomes the number of functions called: 0 after a timeout, a signal or a
 * wake-up. Errors: as capstan_loop, and ESHUTDOWN after capstan_shutdown. */
CAPSTAN_API int capstan_step(capstan_manager *manager, uint64_t timeout, unsigned *calls);

/* Makes capstan_loop return after its current calls. From then on nothing can be registered,
 * started or posted. Pending registrations, timers and posts stay until capstan_manager_free. */
CAPSTAN_API void capstan_shutdown(capstan_manager *manager);

/* Waits until the functions that the manager is calling now have returned. Then the data of
 * registrations and timers that were ended before may be freed. Returns at once on the manager's
 * own thread, and if that thread sleeps. Blocks while such a function runs: the caller must hold no
 * lock that it needs. The thread that handles the records of capstan_pull must not call, as it
 * would wait for itself. */
CAPSTAN_API void capstan_quiesce(capstan_manager *manager);

/* The clock of capstan_timer_start_at: monotonic time in ns. Costs about 25 ns. */
CAPSTAN_API uint64_t capstan_clock(void);

/* The statistics of a manager. While it runs, the numbers may be a moment apart. */
struct capstan_manager_statistics {
    uint64_t turns;       /* waits in the kernel */
    uint64_t fd_calls;    /* functions called for descriptors */
    uint64_t timer_calls; /* for timers */
    uint64_t post_calls;  /* for posts */
    uint64_t wake_ups;    /* wake-ups by other threads */
    uint64_t stale;       /* dropped reports, for registrations that had ended */
    uint64_t rebuilds;    /* times that the kernel's set was remade */
    uint64_t slow_calls;  /* functions that took longer than the limit */
    uint64_t slowest_ns;  /* the longest of these */
    uint64_t watches;     /* registrations now */
    uint64_t timers;      /* timers now */
};
CAPSTAN_API void capstan_manager_statistics(capstan_manager *manager,
                                            struct capstan_manager_statistics *statistics,
                                            size_t size);

/* --- Pull: due calls as records, for hosts that call the functions themselves -----------
 *
 * For a manager made with `pull`. Functions may be NULL there; a record has the function and the
 * data as they were given. `last` is set on the last record with the data of a registration, a
 * timer or a post: the data may be released then. A registration or timer that a call ended gets a
 * record with an id of 0 and `last` set: no event occurred, the data comes back. */
enum { CAPSTAN_RECORD_FD = 1, CAPSTAN_RECORD_TIMER = 2, CAPSTAN_RECORD_POST = 3 };

struct capstan_record {
    uint64_t id;            /* capstan_watch or capstan_timer */
    void (*function)(void); /* as given, or NULL */
    void *data;
    uint64_t expirations; /* of a timer; 0: ended without firing */
    uint32_t events;      /* of a descriptor; 0: the registration was ended */
    int32_t fd;
    uint8_t kind;
    uint8_t last;
    uint8_t unused[6];
};

/* One turn: waits at most `timeout` ns and writes at most `capacity` (at least 1) records; *count
 * becomes their number. With a timeout of 0 it does not block. The functions of the records count
 * as running until the next call of capstan_pull; if that takes too long, it is reported. Errors:
 * EBUSY, EINVAL (not a pull manager), and ESHUTDOWN. ESHUTDOWN comes after capstan_shutdown, once
 * the last records of all pending data (CAPSTAN_CLOSED, 0 expirations) have been returned. */
CAPSTAN_API int capstan_pull(capstan_manager *manager, struct capstan_record *records,
                             unsigned capacity, uint64_t timeout, unsigned *count);

/* --- Events that complete OpenMP tasks ----------------------------------------------------
 *
 *   omp_event_handle_t e;
 *   #pragma omp task detach(e) depend(out: buffer)
 *   { start(buffer); capstan_await_fd(fd, CAPSTAN_READ, e); }
 *
 * The task is complete, and its dependents may run, when its body has ended and the event has
 * happened. `event` is an omp_event_handle_t of <omp.h>. The default managers serve these calls. */

/* Fulfils the event once the descriptor is ready for one of READ, WRITE, HANGUP, has an error, or
 * was closed by capstan_fd_close. Errors as for capstan_fd_register, and EAGAIN when there is no
 * default manager; then the event is not fulfilled. */
CAPSTAN_API int capstan_await_fd(int fd, unsigned events, uintptr_t event);

/* Fulfils the event `delay` ns from now. Errors: ENOMEM, EAGAIN. */
CAPSTAN_API int capstan_await_timer(uint64_t delay, uintptr_t event);

/* --- Libraries with pools of their own ----------------------------------------------------
 *
 * OpenBLAS and FFTW can use the threads of a host. Capstan adopts those that are loaded when the
 * process starts: they then use its threads (CAPSTAN_ADOPT selects them). `capstan run` also
 * notices libraries that are loaded later. Elsewhere a program that has loaded one by dlopen calls
 * capstan_adopt. */

/* Adopts the libraries that have been loaded, and returns the number adopted so far. 0 if
 * CAPSTAN_ADOPT is "none", the default in a program without Haskell. Takes microseconds, and waits
 * for a library that another thread is loading. Thread-safe; not for signal handlers, nor if a
 * library that is being loaded waits for the calling thread. `maker` is NULL, or the address of
 * code that is about to make a thread. Then only that code's library is adopted, the thread counts
 * as that library's in the report, and the call does not wait. */
CAPSTAN_API unsigned capstan_adopt(const void *maker);

#ifdef __cplusplus
}
#endif

#endif
