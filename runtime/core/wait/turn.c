/* The distribution of processors to regions; see turn.h.
 *
 * Masters that ask for teams of fixed sizes may together exceed the number of processors. If all
 * begin, every barrier is a switch between threads, and most switches go to a thread that cannot
 * continue. So the masters take turns. One master has the processors for a slice, in which it opens
 * region after region. The other masters sleep in a line, first come, first served.
 *
 * An idle worker passes the turn on: its master has gone to sleep at the end of the line, or does
 * other work. The master does not pass it itself. It would wake the next master while every
 * processor is in use, and that one would be queued behind one of the threads that it shall work
 * with. The worker's own team goes to the next master, so one worker serves all of them.
 *
 * A turn is a matter of speed, never of progress: regions of different masters may wait for each
 * other, or be long. A master that waits while no turn is passed goes ahead. Then no master waits
 * for a time, which is longer each time.
 *
 * A lock protects the line. `busy` is changed by compare-and-swap wherever a bound holds, so a turn
 * is passed on with its processors, and no two regions get the same processors. A master that joins
 * the line as the last worker falls asleep is not woken, but looks by itself when its patience
 * ends. */
#include "core/wait/turn.h"

#include "core/base/backoff.h"
#include "core/base/lock.h"
#include "core/host/busy.h"
#include "core/host/host.h"
#include "core/wait/policy.h"
#include "core/wait/rival.h"
#include "platform/platform.h"

/* A master in the line, on the master's stack. The master or the passing worker takes it out, under
 * the lock. */
struct waiter {
    struct waiter *next;
    const struct cst_thread *thread;
    struct cst_turn_from from;
    uint32_t threads;
    _Atomic uint32_t has_turn; /* its futex */
};

static struct {
    _Atomic(const struct cst_thread *) holder; /* the master that has the turn */
    _Atomic uint64_t since;                    /* begin of the turn, while masters wait */
    CST_LINE_ALIGNED cst_lock lock;
    struct waiter *first;
    uint32_t passed;         /* turns */
    struct cst_backoff rest; /* no master waits while it lasts */
} line;

CST_LINE_ALIGNED _Atomic uint32_t cst_turn_waiting;

/* Counts at most the number of idle processors as busy. */
static uint32_t take_idle(const struct cst_turn *turn) {
    uint32_t busy = cst_load_relaxed(&cst_busy), granted;
    do {
        uint32_t idle = cst_config.available > busy ? cst_config.available - busy : 0;
        granted = turn->threads < idle ? turn->threads : idle;
        if (granted < turn->least) return 0;
    } while (!cst_cas_relaxed(&cst_busy, &busy, busy + granted));
    return granted;
}

/* Counts the threads if they fit, or if no other thread is busy. */
static bool take_fitting(uint32_t threads) {
    uint32_t busy = cst_load_relaxed(&cst_busy);
    do {
        if (busy != 0 && busy + threads > cst_config.available) return false;
    } while (!cst_cas_relaxed(&cst_busy, &busy, busy + threads));
    return true;
}

/* Does no master wait, or does the thread still have the turn? */
static bool may_begin(const struct cst_thread *thread) {
    if (cst_likely(cst_load_relaxed(&cst_turn_waiting) == 0)) return true;
    return cst_load_relaxed(&line.holder) == thread &&
           cst_clock_ns() - cst_load_relaxed(&line.since) < CST_TURN_SLICE_NS;
}

static void begin_turn(const struct cst_thread *thread, uint64_t now) {
    cst_store_relaxed(&line.holder, thread);
    cst_store_relaxed(&line.since, now);
}

/* --- the line, under its lock ------------------------------------------------------------ */

/* Returns the number of waiters before it. */
static uint32_t append(struct waiter *waiter) {
    struct waiter **last = &line.first;
    uint32_t before = 0;
    for (; *last; last = &(*last)->next) before++;
    *last = waiter;
    cst_store_relaxed(&cst_turn_waiting, before + 1);
    return before;
}

static void take_out(struct waiter *waiter) {
    struct waiter **link = &line.first;
    while (*link != waiter) link = &(*link)->next;
    *link = waiter->next;
    cst_store_relaxed(&cst_turn_waiting, cst_load_relaxed(&cst_turn_waiting) - 1);
}

static bool pass_to(struct waiter *waiter, struct cst_team *team) {
    if (!waiter || !take_fitting(waiter->threads)) return false;
    take_out(waiter);
    line.passed++;
    begin_turn(waiter->thread, cst_clock_ns());
    waiter->from = (struct cst_turn_from){.team = team, .processor = cst_cpu_current()};
    /* The last access: the waiter may return at once. Release: it reads `from` without the lock. */
    cst_store_release(&waiter->has_turn, 1);
    return true;
}

static void rest(uint64_t now) {
    bool again = now - cst_backoff_until(&line.rest) < cst_backoff_length(&line.rest);
    cst_backoff_begin(&line.rest, now, CST_TURN_FIRST_NS, CST_TURN_LONGEST_NS, again);
}

/* ------------------------------------------------------------------------------------------ */

/* Acquire pairs with pass_to's release. */
static bool has_turn(const struct waiter *waiter) {
    return cst_load_acquire(&waiter->has_turn);
}

/* Sleeps until the waiter has the turn. False: no turn was passed for too long. The lock is held at
 * the call and free afterwards. A waiter that is woken with the turn does not need it. The kernel
 * often runs the waiter in place of the passing worker, which then could not release the lock. */
static bool await_turn(struct waiter *waiter, uint32_t before) {
    uint64_t patience = CST_TURN_PATIENCE_NS + (uint64_t)CST_TURN_SLICE_NS * before;
    uint64_t begin = cst_clock_ns();
    uint32_t passed = line.passed;
    for (;;) {
        cst_lock_release(&line.lock);
        cst_futex_wait_for(&waiter->has_turn, 0, patience);
        if (has_turn(waiter)) return true;
        cst_lock_acquire(&line.lock);
        uint64_t now = cst_clock_ns();
        if (has_turn(waiter)) break;
        if (now - begin < patience) continue;
        if (line.first == waiter && pass_to(waiter, NULL)) break;
        if (line.passed == passed) {
            take_out(waiter);
            rest(now);
            break;
        }
        begin = now;
        passed = line.passed;
    }
    bool has = has_turn(waiter);
    cst_lock_release(&line.lock);
    return has;
}

/* Waits in the line. True: the thread has the processors. */
static bool stand_in_line(const struct cst_thread *thread, uint32_t threads,
                          struct cst_turn_from *from) {
    uint64_t now = cst_clock_ns();
    /* Without a spinning worker no turn is passed on. */
    if (!cst_heuristic_is_on(CST_HEURISTIC_TURNS) || !cst_policy_spins() || cst_rival_was_known())
        return false;
    if (cst_backoff_lasts(&line.rest, now)) return false;
    /* Threads that wait for this Capability would wait too, above all a collection. */
    if (cst_host_holds_capability()) return false;
    struct waiter waiter = {.thread = thread, .threads = threads};
    cst_lock_acquire(&line.lock);
    uint32_t before = append(&waiter);
    if (before == 0) cst_store_relaxed(&line.since, now);
    bool has = await_turn(&waiter, before);
    *from = waiter.from;
    return has;
}

uint32_t cst_turn_take(const struct cst_thread *thread, const struct cst_turn *turn,
                       struct cst_turn_from *from) {
    from->team = NULL;
    if (turn->at_most) return take_idle(turn);
    if (turn->may_wait) {
        if (may_begin(thread) && take_fitting(turn->threads)) {
            if (cst_load_relaxed(&line.holder) != thread) cst_store_relaxed(&line.holder, thread);
            return turn->threads;
        }
        if (stand_in_line(thread, turn->threads, from)) return turn->threads;
    }
    cst_add_relaxed(&cst_busy, turn->threads);
    return turn->threads;
}

void cst_turn_return(uint32_t threads) {
    cst_sub_relaxed(&cst_busy, threads);
}

void cst_turn_pass(struct cst_seat *seat) {
    /* While all processors are busy a turn is seldom free, so the line's lock is not taken. */
    if (cst_load_relaxed(&cst_busy) >= cst_config.available || !cst_lock_try(&line.lock)) return;
    struct waiter *next = line.first;
    bool passed = pass_to(next, seat->team);
    cst_lock_release(&line.lock);
    /* The wake-up comes after the release, and uses the address alone: the waiter's stack frame may
     * have ended. futex(2) allows a stray wake-up. */
    if (passed) cst_futex_wake(&next->has_turn, 1);
}

void cst_turn_after_fork(void) {
    cst_store_relaxed(&line.lock, CST_LOCK_FREE);
    cst_store_relaxed(&cst_busy, 0);
    cst_store_relaxed(&cst_awake, 0);
    cst_store_relaxed(&cst_turn_waiting, 0);
    line.first = NULL;
}
