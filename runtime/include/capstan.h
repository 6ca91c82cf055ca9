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
 * A manager watches descriptors, keeps timers and accepts posted calls, and calls functions when
 * something happens. One thread at a time drives it (capstan_loop or capstan_step); all functions
 * that it calls run on that thread. Any thread may register, change, cancel and post.
 *
 *   capstan_manager *m;
 *   capstan_manager_new(&m, NULL);
 *   capstan_fd_register(m, fd, CAPSTAN_READ, on_readable, data, NULL);
 *   capstan_loop(m);
 *
 * A program that wants no loop of its own uses capstan_manager_default().
 *
 * Rules for functions that a manager calls:
 *  - They may call everything in this section except where it says otherwise; they may unregister
 *    themselves and others. What was unregistered or cancelled on the manager's thread is not
 *    called any more, even if it was already due.
 *  - They should not block: all else on that manager waits. A call that takes longer than the
 *    manager's limit (50 ms unless set otherwise) is counted and reported.
 *  - They must not leave by a C++ exception or longjmp.
 *  - errno need not be kept.
 *
 * Descriptors: unregister before you close, or close with capstan_fd_close. A descriptor that is
 * closed while it is registered gives no more events, unless a copy of it (dup, fork) is open. When
 * its number is registered again, the old registrations are told CAPSTAN_CLOSED. The back end
 * "poll" knows a file by its number only: there the old registration is told CAPSTAN_ERROR once, or
 * what happens to the file that has the number by then.
 *
 * Time: deadlines are CLOCK_MONOTONIC's. Setting the machine's clock, leap seconds and time zones
 * change nothing; while the machine is suspended no time passes, and what is left of a delay is
 * waited for after it has woken (a periodic timer misses nothing). If the process was stopped for
 * longer, all that is due is called at once, in order, a periodic timer once with the number of its
 * periods. If the monotonic clock itself goes back, as it may for a child that is forked into
 * another time namespace, deadlines are what they were, by the clock as it is then.
 *
 * Fork: in the child, a manager that the program drives itself keeps its registrations and timers,
 * and posted calls that have not run; the parent's are not touched. The default managers start
 * empty in the child; a function called by one may fork, but not return in the child. After vfork
 * or a bare clone only exec is allowed.
 *
 * Out of descriptors (EMFILE, ENFILE): creating a manager takes two descriptors and can fail;
 * everything else goes on working. */

typedef struct capstan_manager capstan_manager;
typedef uint64_t capstan_watch; /* names a registration; 0 names none; never used twice soon */
typedef uint64_t capstan_timer; /* names a timer; 0 names none */

/* What to watch for, and what happened. */
enum {
    CAPSTAN_READ = 1,    /* reading will not block: data, a connection to accept, end of file */
    CAPSTAN_WRITE = 4,   /* writing will not block */
    CAPSTAN_ERROR = 8,   /* reported whether asked for or not: the descriptor has an error */
    CAPSTAN_HANGUP = 16, /* the peer closed its side; when both sides are closed it is reported
                            whether asked for or not. For the writing end of a pipe that nobody
                            reads any more Linux says ERROR instead */
    CAPSTAN_CLOSED = 32, /* reported only: the registration has ended because the descriptor was
                            closed or the manager was freed */

    /* How to watch. Without these: level-triggered and persistent, that is, the function is called
     * again and again while the descriptor is ready, until it is unregistered. */
    CAPSTAN_ONESHOT = 256, /* once; then the registration is gone */
    CAPSTAN_EDGE = 512     /* when readiness begins or more arrives: read or write until EAGAIN, or
                              be content with one call per arrival */
};

#define CAPSTAN_FOREVER UINT64_MAX

/* How often this process has come out of a fork: 0 in one that has not, 1 in its children, and so
 * on. For hosts that must make their threads anew. */
CAPSTAN_API unsigned capstan_forks(void);

/* `events` has only bits that were asked for, and ERROR, HANGUP and CLOSED. */
typedef void capstan_fd_function(capstan_manager *manager, capstan_watch watch, int fd,
                                 unsigned events, void *data);
/* `expirations`: 1 for a one-time timer; for a periodic one the number of periods that have passed
 * since the last call; 0: the manager was freed before the timer fired. */
typedef void capstan_timer_function(capstan_manager *manager, capstan_timer timer,
                                    uint64_t expirations, void *data);
typedef void capstan_post_function(capstan_manager *manager, void *data);

/* A function that was called by the manager and took too long; see slow_limit below. Time in which
 * it could have run but the processor was given to others does not count against it. */
struct capstan_slow {
    uint64_t elapsed_ns; /* so far, if it still runs; known to a few milliseconds */
    int still_running;   /* noticed by a thread that registers, starts or posts something on this
                            manager, after ten times the limit. If none does, it is reported when
                            the function returns */
    int fd;              /* the descriptor it was called for, or -1 */
    void (*function)(void);
    unsigned candidates; /* usually 1; else one of so many calls, of which this was the last */
};
typedef void capstan_slow_function(capstan_manager *manager, const struct capstan_slow *slow,
                                   void *data);

/* Zero everywhere, or a NULL pointer to it, gives the defaults. */
struct capstan_manager_options {
    size_t size;          /* sizeof(struct capstan_manager_options); 0: as in version 0.1 */
    const char *back_end; /* "epoll", "poll", "kqueue", or NULL: the best one here */
    uint64_t slow_limit;  /* ns that a function may take; 0: 50 ms, with `pull` 500 ms for all
                             records of a pull together; CAPSTAN_FOREVER: no limit. Below 20 ms
                             the clock is too coarse */
    capstan_slow_function *slow; /* called when one takes longer, on whichever thread noticed.
                                    NULL: one warning per manager on standard error */
    void *slow_data;
    int pull; /* nonzero: driven by capstan_pull only */
};

/* Makes a manager. Costs two descriptors and about 30 KiB.
 * Errors: ENOMEM, EMFILE, ENFILE, EINVAL (unknown back end or too large a `size`). */
CAPSTAN_API int capstan_manager_new(capstan_manager **manager,
                                    const struct capstan_manager_options *options);

/* Ends a manager that no thread drives and no other call uses. Calls that were posted are run.
 * Descriptors that are still registered are told CAPSTAN_CLOSED, and timers that have not fired
 * 0 expirations, each once, on the calling thread. Not from one of its own functions, and not a
 * default manager: EBUSY. */
CAPSTAN_API int capstan_manager_free(capstan_manager *manager);

/* The manager that serves the calling thread's processor, driven by a thread of Capstan's own that
 * is made on first use. It sleeps when nothing is due. There are as many as processors that the
 * process may use, at most 16. NULL when it cannot be made (no descriptors, no threads); the next
 * call tries again. Costs about 5 ns. Not in a signal handler. */
CAPSTAN_API capstan_manager *capstan_manager_default(void);

/* Name of the back end: "epoll", "poll", "kqueue". */
CAPSTAN_API const char *capstan_manager_back_end(const capstan_manager *manager);

/* Watches a descriptor. `events`: READ, WRITE, HANGUP, or several, with ONESHOT and EDGE if wanted.
 * A descriptor may have several registrations, with one function called for each; all of them must
 * be EDGE or none (EINVAL). Another registration of an EDGE descriptor may repeat an edge.
 * Regular files are always ready. `watch` may be NULL; it is written before the function can be
 * called. One system call (about 0.3 us), and a wake-up only if the back end needs one.
 * Errors: EBADF, EINVAL, ENOMEM, ENOSPC (the user's limit on epoll watches), ENOTSUP (EDGE on
 * poll), ESHUTDOWN. */
CAPSTAN_API int capstan_fd_register(capstan_manager *manager, int fd, unsigned events,
                                    capstan_fd_function *function, void *data,
                                    capstan_watch *watch);

/* Changes what a registration watches for (READ, WRITE, HANGUP; ONESHOT and EDGE stay as they
 * are). 0 events: nothing, until changed again. Also makes the manager look again: an EDGE
 * registration that is ready is reported once more.
 * Errors: ENOENT (no such registration, or it has ended), EINVAL, and those of the system. */
CAPSTAN_API int capstan_fd_change(capstan_manager *manager, capstan_watch watch, unsigned events);

/* Ends a registration. 0: its function is not called any more (one that a persistent registration
 * has already begun on another thread may still run: see capstan_quiesce). ENOENT: it had ended
 * before; for a ONESHOT, its function was called or is about to be. Exactly one of the two. */
CAPSTAN_API int capstan_fd_unregister(capstan_manager *manager, capstan_watch watch);

/* Ends all registrations of a descriptor and tells each CAPSTAN_CLOSED. With a NULL manager: those
 * of all managers. For a descriptor that is about to be closed by other means than close;
 * capstan_fd_closed follows. */
CAPSTAN_API void capstan_fd_unregister_all(capstan_manager *manager, int fd);

/* After a descriptor was closed by other means: ends the registrations that have come since
 * capstan_fd_unregister_all and tells each CAPSTAN_CLOSED. Those of a file that has the number
 * since, or of a descriptor that is still open, stay. With a NULL manager: those of all managers. A
 * system call for each manager with a registration of that number. */
CAPSTAN_API void capstan_fd_closed(capstan_manager *manager, int fd);

/* Ends all registrations of a descriptor, tells each CAPSTAN_CLOSED, and closes it; one that comes
 * meanwhile is told as well, or refused (EBADF). With a NULL manager: the registrations of all
 * managers. Errors: those of close, and then the registrations have ended all the same. */
CAPSTAN_API int capstan_fd_close(capstan_manager *manager, int fd);

/* Calls a function once, `delay` ns from now, or, if `period` is not 0, then and every `period` ns
 * after. Never early. Late by at most 65 536 ns, plus what the kernel takes to wake the manager's
 * thread (Linux adds up to 50 us of slack) and what functions called before it take. Periods are
 * counted from the first deadline, so there is no drift; periods that were missed are one call.
 * `timer` may be NULL. About 50 ns at any number of timers, 30 of them to read the clock, plus a
 * system call if the manager sleeps and must now wake earlier. Errors: ENOMEM, EINVAL (no
 * function), ESHUTDOWN. */
CAPSTAN_API int capstan_timer_start(capstan_manager *manager, uint64_t delay, uint64_t period,
                                    capstan_timer_function *function, void *data,
                                    capstan_timer *timer);

/* The same with the deadline itself, in the time of capstan_clock: for who knows the time already,
 * and starts many. About 20 ns. */
CAPSTAN_API int capstan_timer_start_at(capstan_manager *manager, uint64_t deadline, uint64_t period,
                                       capstan_timer_function *function, void *data,
                                       capstan_timer *timer);

/* Moves a timer that has not fired to `delay` ns from now; its period stays. About 30 ns; moving
 * it to a later time touches nothing but the timer. ENOENT: it has fired or was cancelled. */
CAPSTAN_API int capstan_timer_reschedule(capstan_manager *manager, capstan_timer timer,
                                         uint64_t delay);

/* Cancels a timer. 0: its function is not called any more (a periodic one that has begun on
 * another thread may still run). ENOENT: it has fired, is about to, or was cancelled. About 15 ns.
 */
CAPSTAN_API int capstan_timer_cancel(capstan_manager *manager, capstan_timer timer);

/* Calls a function once on the manager's thread, in the order of posting. About 20 ns, plus a
 * system call if the manager sleeps. Errors: ENOMEM, EINVAL, ESHUTDOWN. */
CAPSTAN_API int capstan_post(capstan_manager *manager, capstan_post_function *function, void *data);

/* Drives the manager until capstan_shutdown, then returns 0. Blocks, asleep in the kernel while
 * nothing is due. EBUSY: another thread drives it, or this is a function that it called. EINVAL:
 * a manager made for capstan_pull, or a default one. */
CAPSTAN_API int capstan_loop(capstan_manager *manager);

/* One turn: waits at most `timeout` ns for something to do and calls what is due. *calls, if not
 * NULL, becomes the number of functions called; 0 after a timeout, a signal or a wake-up.
 * Errors: as capstan_loop, and ESHUTDOWN after capstan_shutdown. */
CAPSTAN_API int capstan_step(capstan_manager *manager, uint64_t timeout, unsigned *calls);

/* Makes capstan_loop return after the calls that it is in the middle of; from then on nothing can
 * be registered, started or posted. What is pending stays until capstan_manager_free. */
CAPSTAN_API void capstan_shutdown(capstan_manager *manager);

/* Waits until every function that the manager was calling when this was called has returned. Then
 * what was unregistered or cancelled before may be freed. Returns at once on the manager's own
 * thread, and when it sleeps. Blocks while such a function runs: hold no lock that it needs. Not by
 * who handles the records of capstan_pull, who would wait for himself. */
CAPSTAN_API void capstan_quiesce(capstan_manager *manager);

/* The clock of capstan_timer_start_at: monotonic time in ns. About 25 ns. */
CAPSTAN_API uint64_t capstan_clock(void);

/* What a manager has done so far. Read while it runs, the numbers may be a moment apart. */
struct capstan_manager_statistics {
    uint64_t turns;       /* times that it asked the kernel */
    uint64_t fd_calls;    /* functions called for descriptors */
    uint64_t timer_calls; /* for timers */
    uint64_t post_calls;  /* for posts */
    uint64_t wake_ups;    /* times that another thread had to wake it */
    uint64_t stale;       /* reports for registrations that had ended, and were dropped */
    uint64_t rebuilds;    /* times that the kernel's set was made anew */
    uint64_t slow_calls;  /* functions that took longer than the limit */
    uint64_t slowest_ns;  /* the longest of them */
    uint64_t watches;     /* registrations now */
    uint64_t timers;      /* timers now */
};
CAPSTAN_API void capstan_manager_statistics(capstan_manager *manager,
                                            struct capstan_manager_statistics *statistics,
                                            size_t size);

/* --- Pull: what is due as records, for hosts that call the functions themselves -----------
 *
 * For a manager made with `pull`. Functions may be NULL there; a record brings whatever was given
 * as function and data. `last` is set on the last record that brings a given registration's,
 * timer's or post's data: it may be released then. What was ended by a call gets a record with an
 * id of 0 and `last` set: nothing happened, the data comes back. */
enum { CAPSTAN_RECORD_FD = 1, CAPSTAN_RECORD_TIMER = 2, CAPSTAN_RECORD_POST = 3 };

struct capstan_record {
    uint64_t id;            /* capstan_watch or capstan_timer */
    void (*function)(void); /* as given, or NULL */
    void *data;
    uint64_t expirations; /* of a timer; 0: it ended without firing */
    uint32_t events;      /* of a descriptor; 0: the registration was ended */
    int32_t fd;
    uint8_t kind;
    uint8_t last;
    uint8_t unused[6];
};

/* One turn: waits at most `timeout` ns and writes at most `capacity` (at least 1) records; *count
 * becomes their number. With a timeout of 0 it does not block. The functions of the records count
 * as running until the next call of capstan_pull; if that takes too long, it is reported. Errors:
 * EBUSY, EINVAL (not a pull manager), and after capstan_shutdown, when the last records of all that
 * was pending have been brought (CAPSTAN_CLOSED, 0 expirations), ESHUTDOWN. */
CAPSTAN_API int capstan_pull(capstan_manager *manager, struct capstan_record *records,
                             unsigned capacity, uint64_t timeout, unsigned *count);

/* --- Events that complete OpenMP tasks ----------------------------------------------------
 *
 *   omp_event_handle_t e;
 *   #pragma omp task detach(e) depend(out: buffer)
 *   { start(buffer); capstan_await_fd(fd, CAPSTAN_READ, e); }
 *
 * The task is complete, and its dependents may run, when its body has ended and the event has
 * happened. `event` is an omp_event_handle_t of <omp.h>. Served by the default managers. */

/* Fulfils the event once the descriptor is ready for one of READ, WRITE, HANGUP, has an error, or
 * was closed by capstan_fd_close. Errors as for capstan_fd_register, and EAGAIN when there is no
 * default manager; then the event is not fulfilled. */
CAPSTAN_API int capstan_await_fd(int fd, unsigned events, uintptr_t event);

/* Fulfils the event `delay` ns from now. Errors: ENOMEM, EAGAIN. */
CAPSTAN_API int capstan_await_timer(uint64_t delay, uintptr_t event);

/* --- Libraries with pools of their own ----------------------------------------------------
 *
 * OpenBLAS and FFTW can be told whose threads to use. Those that are there when the process starts
 * are told to use Capstan's (CAPSTAN_ADOPT says which). `capstan run` also notices those that are
 * loaded later; elsewhere a program that has loaded one by dlopen calls this. */

/* Looks at what has been loaded, and returns how many libraries have been taken over so far; 0
 * where CAPSTAN_ADOPT is "none", as it is by default in a program without Haskell. Takes
 * microseconds, and waits for a library that another thread is loading. Thread-safe; not for signal
 * handlers, nor where a library that is being loaded waits for the calling thread. `maker`: NULL;
 * or the address of code that is about to make a thread: then only its library is taken over, the
 * thread counts as one of that library's in the report, and the call waits for nobody. */
CAPSTAN_API unsigned capstan_adopt(const void *maker);

#ifdef __cplusplus
}
#endif

#endif
