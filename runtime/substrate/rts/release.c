/* The watcher of deferred releases; see substrate/release.h.
 *
 * The watcher lives while callbacks continue, and ends after IDLE_LOOKS looks without a callback.
 * At every 64th release the clock tells whether a coroutine's callbacks come fast enough to be
 * worth deferral. */
#if defined(__GLASGOW_HASKELL__) && !defined(CST_SHARED_LIBRARY)
#include "substrate/release.h"

#include "platform/platform.h"
#include "substrate/rts/watcher.h"

#include <pthread.h>

enum {
    ALLOWANCE = 15,
    PERIOD = 64,
    LONGEST_PERIOD = 1 << 24,
    FAST_NS = 1000, /* a callback, and C's work until the next */
    LOOK_NS = 1000000,
    IDLE_LOOKS = 16 /* after which the watcher ends */
};

_Atomic uint32_t cst_release_watched;

static cst_release_function *make;
static struct cst_rts_usual usual;
static _Atomic(struct cst_release *) newest;
static _Atomic bool exists; /* the watcher; the thread that sets it makes the watcher */

/* Held while a watcher releases, so that no fork interrupts it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void cst_release_init(struct cst_release *release) {
    struct cst_release *older = cst_load_relaxed(&newest);
    do {
        release->older = older;
        /* Publishes `older`; pairs with the acquire in look. */
    } while (!cst_cas_release(&newest, &older, release));
}

void cst_release_begin(struct cst_release *release, void **mine) {
    release->mine = mine;
    release->credit = release->allowance = release->releases = 0;
    release->period = PERIOD;
    release->looked = 0;
    release->task = NULL;
}

void cst_release_allow(cst_release_function *function) {
    make = function;
}

void cst_release_make(struct cst_release *release) {
    uint32_t due = CST_RELEASE_IS_DUE;
    if (!cst_cas_acquire(&release->due, &due, CST_RELEASE_TAKEN)) return;
    release->task = make(release->registers);
    cst_store_release(&release->due, CST_RELEASE_DONE);
}

void cst_release_now(struct cst_release *release) {
    if (cst_release_take_back(release)) release->task = make(release->registers);
}

void cst_release_await(struct cst_release *release) {
    while (cst_load_acquire(&release->due) != CST_RELEASE_DONE) cst_yield();
    cst_store_relaxed(&release->due, CST_RELEASE_NOT_DUE);
    release->credit = release->allowance = release->releases = 0;
    release->looked = 0;
    if (release->period < LONGEST_PERIOD) release->period *= 4;
}

static void make_for_owner(struct cst_release *release) {
    if (cst_load_relaxed(&release->due) != CST_RELEASE_IS_DUE) return;
    cst_rts_watcher_enter_ghc(&usual);
    cst_release_make(release);
    cst_rts_watcher_leave_ghc();
}

/* Makes the releases that have been due since the last look, or, with `all`, all due releases.
 * True: callbacks continue. */
static bool look(bool all) {
    bool go_on = false;
    pthread_mutex_lock(&lock);
    for (struct cst_release *each = cst_load_acquire(&newest); each; each = each->older) {
        uint32_t calls = cst_load_relaxed(&each->calls);
        bool stands = each->seen == calls;
        each->seen = calls;
        if (all || stands) make_for_owner(each);
        go_on |= !stands;
    }
    pthread_mutex_unlock(&lock);
    return go_on;
}

/* False: the watcher must go on, since an owner may have seen it still, and its release may not be
 * visible yet. */
static bool stop(void) {
    cst_store_seq_cst(&cst_release_watched, 0);
    if (!cst_process_barrier()) {
        cst_store_relaxed(&cst_release_watched, 1);
        return false;
    }
    look(true);
    return true;
}

static void *watch(void *unused) {
    _Atomic uint32_t nobody = 0;
    /* Without membarrier(2) a watcher could not end. */
    if (!cst_process_barrier()) return unused;
    cst_store_seq_cst(&cst_release_watched, 1);
    for (unsigned idle = 0; idle < IDLE_LOOKS || !stop(); idle++) {
        cst_futex_wait_for(&nobody, 0, LOOK_NS);
        if (look(false)) idle = 0;
    }
    cst_store_release(&exists, false);
    return unused;
}

void cst_release_pace(struct cst_release *release) {
    uint64_t now = cst_clock_ns();
    uint64_t calls = (uint64_t)release->period * (1 + release->allowance);
    bool fast =
        make && release->mine && release->looked != 0 && now - release->looked < calls * FAST_NS;
    release->looked = now;
    release->releases = 0;
    release->allowance = 0;
    if (!fast) return;
    if (cst_load_relaxed(&cst_release_watched))
        release->allowance = ALLOWANCE;
    else if (!cst_exchange_relaxed(&exists, true) && cst_rts_watcher_start(watch, &usual) != 0)
        cst_store_relaxed(&exists, false);
}

void cst_release_hold(void) {
    pthread_mutex_lock(&lock);
}

void cst_release_go_on(void) {
    pthread_mutex_unlock(&lock);
}

void cst_release_forget(void) {
    cst_store_relaxed(&cst_release_watched, 0);
    cst_store_relaxed(&exists, false);
    pthread_mutex_unlock(&lock);
}

#endif
