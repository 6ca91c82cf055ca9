/* Waits until a Capability runs no Haskell code.
 *
 * GHC does not tell when a Capability becomes idle. A Haskell thread that polled would take the
 * Capability from the thread that computes there. If that thread is bound, this takes two switches
 * of system threads, and the first may wait for the kernel's next tick. So a watcher thread polls,
 * by loads alone (busy.c), and puts into an MVar.
 *
 * The watcher lives while a thread waits, and LINGER_NS longer. All its shared data is under
 * `lock`. It calls GHC without that lock, because a forking thread holds GHC's locks and then takes
 * this one. */
#include "substrate/rts/rts.h"

#if defined(__GLASGOW_HASKELL__) && !defined(CST_SHARED_LIBRARY)
#include "platform/atomic.h"
#include "platform/platform.h"
#include "substrate/rts/watcher.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    SHORTEST_NS = 250000, /* between two looks; then doubled, up to */
    LONGEST_NS = 4000000,
    LINGER_NS = 1000000000 /* the watcher waits for the next wish */
};

/* The wish of a waiting thread. */
struct wish {
    struct wish *next;
    HsStablePtr box;
    unsigned capability;
    bool was_idle;     /* at the last look */
    uint64_t deadline; /* granted at this time even if not idle; 0: no deadline */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct wish *wishes;
static bool exists; /* the watcher */
static uint64_t pause_ns;
static struct cst_rts_usual usual;
static _Atomic uint32_t news; /* counts the wake-ups of a lingering watcher */

/* Held while GHC is called, so that the end of GHC's runtime system waits. */
static pthread_mutex_t granting = PTHREAD_MUTEX_INITIALIZER;
static bool ended;

static bool idles(unsigned capability) {
    return capability >= cst_rts_capabilities() || !cst_rts_haskell_runs(capability);
}

/* Takes out the wishes that are granted now. *soon: shall the next look come soon? */
static struct wish *take_due(uint64_t now, bool *soon) {
    struct wish *due = NULL, **link = &wishes;
    *soon = false;
    while (*link) {
        struct wish *each = *link;
        bool idle = idles(each->capability);
        if ((idle && each->was_idle) || (each->deadline && now >= each->deadline)) {
            *link = each->next;
            each->next = due;
            due = each;
            continue;
        }
        *soon |= idle;
        each->was_idle = idle;
        link = &each->next;
    }
    return due;
}

static void grant(struct wish *due) {
    cst_rts_watcher_enter_ghc(&usual);
    pthread_mutex_lock(&granting);
    while (due) {
        struct wish *next = due->next;
        if (!ended) hs_try_putmvar((int)due->capability, due->box);
        free(due);
        due = next;
    }
    pthread_mutex_unlock(&granting);
    cst_rts_watcher_leave_ghc();
}

/* Waits for a wish. Called with the lock, which it releases meanwhile. True: there is a wish. */
static bool linger(void) {
    if (wishes) return true;
    uint32_t seen = cst_load_relaxed(&news);
    pthread_mutex_unlock(&lock);
    cst_futex_wait_for(&news, seen, LINGER_NS);
    pthread_mutex_lock(&lock);
    return wishes != NULL;
}

static void *watch(void *unused) {
    _Atomic uint32_t nobody = 0;
    pthread_mutex_lock(&lock);
    while (linger()) {
        uint64_t pause = pause_ns;
        bool soon;
        pthread_mutex_unlock(&lock);
        cst_futex_wait_for(&nobody, 0, pause);
        pthread_mutex_lock(&lock);
        struct wish *due = take_due(cst_clock_ns(), &soon);
        if (soon)
            pause_ns = SHORTEST_NS;
        else if (pause_ns < LONGEST_NS)
            pause_ns *= 2;
        if (!due) continue;
        pthread_mutex_unlock(&lock);
        grant(due);
        pthread_mutex_lock(&lock);
    }
    exists = false;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void end(void) {
    pthread_mutex_lock(&granting);
    ended = true;
    pthread_mutex_unlock(&granting);
}

static void hold(void) {
    pthread_mutex_lock(&lock);
}

static void go_on(void) {
    pthread_mutex_unlock(&lock);
}

/* The child of a fork has neither the watcher nor the waiting threads. */
static void forget(void) {
    wishes = NULL;
    exists = false;
    granting = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_unlock(&lock);
}

static bool may_watch;

static void prepare(void) {
    cst_rts_observe();
    may_watch = rtsSupportsBoundThreads() && cst_rts_capability(0) &&
                pthread_atfork(hold, go_on, forget) == 0 && cst_rts_at_exit(end);
}

#pragma GCC visibility push(default) /* as in rts.h */
HsBool cst_rts_await_idle(HsInt capability, HsStablePtr box, HsInt milliseconds) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    struct wish *wish = may_watch ? malloc(sizeof *wish) : NULL;
    if (!wish) return false;
    uint64_t deadline = milliseconds ? cst_clock_ns() + (uint64_t)milliseconds * 1000000 : 0;
    *wish = (struct wish){NULL, box, (unsigned)capability, false, deadline};
    pthread_mutex_lock(&lock);
    if (!exists) exists = cst_rts_watcher_start(watch, &usual) == 0;
    bool watched = exists, first = watched && !wishes;
    if (watched) {
        wish->next = wishes;
        wishes = wish;
        pause_ns = SHORTEST_NS;
    } else {
        free(wish);
    }
    if (first) cst_add_relaxed(&news, 1);
    pthread_mutex_unlock(&lock);
    if (first) cst_futex_wake(&news, 1);
    return watched;
}
#pragma GCC visibility pop

#endif
