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
 * ends.
 *
 * A master may announce its region by a question (announce.h). Then it takes its turn before the
 * question returns, with the same line. An announcement counts no thread as busy, as its region may
 * not come. It holds off other announcements alone, for 20 ms, and for twice the time after each
 * one whose region did not come, up to 320 ms. A master that has to wait at a question passes the
 * turn on by itself. It goes to sleep, so its processor is free, and it holds no lock that the next
 * one spins for. At the end of its region OpenBLAS still holds such a lock. The first in line also
 * looks by itself, as beside a rival no idle worker is awake.
 *
 * A master that holds one of GHC's Capabilities, in an unsafe call, waits for an announced region
 * only. A region that has been announced and does not come holds it off for a millisecond alone:
 * that region's thread may wait for a collection, which waits for the Capability. */
#include "core/wait/turn.h"

#include "core/base/backoff.h"
#include "core/base/lock.h"
#include "core/host/busy.h"
#include "core/host/host.h"
#include "core/wait/announce.h"
#include "core/wait/policy.h"
#include "core/wait/rival.h"
#include "platform/platform.h"

static const uint32_t no_processor = UINT32_MAX;

/* A master in the line, on the master's stack. The master or the passing worker takes it out, under
 * the lock. */
struct waiter {
    struct waiter *next;
    struct cst_thread *thread;
    struct cst_turn_from from;
    uint32_t threads;
    bool announces;            /* the turn begins with an announcement, not with a region */
    bool holds;                /* it announces, and has a Capability that a collection may need */
    uint64_t patience;         /* while no turn is passed */
    _Atomic uint32_t has_turn; /* its futex */
};

/* The measure of regions that begin while masters wait. A step is a barrier or a join. */
struct pace {
    uint64_t time, steps;
};

static struct {
    _Atomic(const struct cst_thread *) holder; /* the master that has the turn */
    _Atomic uint64_t since;                    /* begin of the turn, while masters wait */
    /* The number of announced regions that have not begun, in the lower half. If they do not come,
     * their number is forgotten: the upper half is then the next era. The time is that of the last
     * announcement, or of the last such region's begin. The era lasts for `lasts` from then on. */
    _Atomic uint64_t announced, announced_at, lasts;
    _Atomic uint32_t begun;       /* regions that began while masters waited, */
    _Atomic uint64_t time, steps; /* and their sums, of those that have ended */
    CST_LINE_ALIGNED cst_lock lock;
    struct waiter *first;
    uint32_t passed;         /* turns */
    struct pace before;      /* the sums at the last turn, */
    struct pace pace;        /* and the mean of the last turns, times their number */
    struct cst_backoff rest; /* while it lasts, only masters that announce a region wait */
} line = {.lasts = CST_ANNOUNCE_FIRST_NS,
          .pace = {.time = CST_TURN_PACE_NS, .steps = CST_TURN_PACE_STEPS}};

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

/* An announced region has not come in time: its master may spin, among many others, for a lock. */
static void lengthen_era(void) {
    uint64_t length = 2 * cst_load_relaxed(&line.lasts);
    if (length <= CST_ANNOUNCE_LONGEST_NS) cst_store_relaxed(&line.lasts, length);
}

/* Announces a region of the thread, if the region fits and no other one is announced. Two masters
 * may still go ahead, if the region of one begins while the other looks. That costs time alone.
 * `holds`: the thread waits with a Capability. */
static bool announce(struct cst_thread *thread, uint32_t threads, bool holds) {
    uint64_t now = cst_clock_ns(), seen = cst_load_relaxed(&line.announced), next = seen + 1;
    if ((uint32_t)seen != 0) {
        uint64_t lasts = holds ? CST_ANNOUNCE_HELD_NS : cst_load_relaxed(&line.lasts);
        if (now - cst_load_relaxed(&line.announced_at) < lasts) return false;
        next = ((seen >> 32) + 1) << 32 | 1;
    }
    uint32_t busy = cst_load_relaxed(&cst_busy);
    if (busy != 0 && busy + threads > cst_config.available) return false;
    if (!cst_cas_relaxed(&line.announced, &seen, next)) return false;
    cst_store_relaxed(&line.announced_at, now);
    if (next >> 32 != seen >> 32 && !holds) lengthen_era();
    thread->asking.era = (uint32_t)(next >> 32) + 1;
    return true;
}

/* The announced region begins. In the child of a fork its announcement is forgotten. */
static void come_true(struct cst_thread *thread) {
    uint32_t era = thread->asking.era;
    thread->asking.era = 0;
    uint64_t seen = cst_load_relaxed(&line.announced);
    do {
        if ((uint32_t)(seen >> 32) + 1 != era || (uint32_t)seen == 0) return;
    } while (!cst_cas_relaxed(&line.announced, &seen, seen - 1));
    cst_store_relaxed(&line.announced_at, cst_clock_ns());
    if (cst_load_relaxed(&line.lasts) != CST_ANNOUNCE_FIRST_NS)
        cst_store_relaxed(&line.lasts, CST_ANNOUNCE_FIRST_NS);
}

/* Does no master wait, or does the thread still have the turn? */
static bool may_begin(const struct cst_thread *thread) {
    if (cst_likely(cst_load_relaxed(&cst_turn_waiting) == 0)) return true;
    return cst_load_relaxed(&line.holder) == thread &&
           cst_clock_ns() - cst_load_relaxed(&line.since) < CST_TURN_SLICE_NS;
}

static void hold(const struct cst_thread *thread) {
    if (cst_load_relaxed(&line.holder) != thread) cst_store_relaxed(&line.holder, thread);
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

/* From now on masters go ahead, for a time. One that announces its region still waits, unless the
 * wait proves to be in vain (announce.h): if it did not, it would spin. */
static void rest(uint64_t now) {
    bool again = now - cst_backoff_until(&line.rest) < cst_backoff_length(&line.rest);
    cst_backoff_begin(&line.rest, now, CST_TURN_FIRST_NS, CST_TURN_LONGEST_NS, again);
}

static void add_to_mean(uint64_t *mean, uint64_t *before, uint64_t sum) {
    *mean += sum - *before - *mean / CST_TURN_PACE_OF;
    *before = sum;
}

/* A turn has ended. It gained some microseconds at each step, as the members did not wait for a
 * processor. It cost wake-ups, and the others waited for milliseconds. So turns gain nothing where
 * steps are far apart, least of all in regions that sleep: then they rest. */
static void keep_pace(uint64_t now) {
    add_to_mean(&line.pace.time, &line.before.time, cst_load_relaxed(&line.time));
    add_to_mean(&line.pace.steps, &line.before.steps, cst_load_relaxed(&line.steps));
    if (line.pace.time <= CST_TURN_STEP_NS * line.pace.steps) return;
    line.pace = (struct pace){.time = CST_TURN_PACE_NS, .steps = CST_TURN_PACE_STEPS};
    rest(now);
}

static bool pass_to(struct waiter *waiter, struct cst_team *team, uint32_t processor) {
    if (!waiter) return false;
    bool fits = waiter->announces ? announce(waiter->thread, waiter->threads, waiter->holds)
                                  : take_fitting(waiter->threads);
    if (!fits) return false;
    take_out(waiter);
    line.passed++;
    uint64_t now = cst_clock_ns();
    if (!waiter->announces) keep_pace(now);
    begin_turn(waiter->thread, now);
    waiter->from = (struct cst_turn_from){.team = team, .processor = processor};
    /* The last access: the waiter may return at once. Release: it reads `from` without the lock. */
    cst_store_release(&waiter->has_turn, 1);
    return true;
}

/* ------------------------------------------------------------------------------------------ */

/* Acquire pairs with pass_to's release. */
static bool has_turn(const struct waiter *waiter) {
    return cst_load_acquire(&waiter->has_turn);
}

/* The time from one look of a waiter to its next. Beside a rival, or Haskell code, no idle worker
 * is awake to pass on a turn. */
static uint64_t sleep_length(const struct waiter *waiter) {
    bool soon = !waiter->announces || waiter->holds;
    uint32_t place = 1;
    for (const struct waiter *other = line.first; other != waiter; other = other->next) place++;
    return (uint64_t)(soon ? CST_TURN_SOON_NS : CST_TURN_LOOK_NS) * place;
}

/* A number that grows while other masters get ahead. A waiter that announces counts all regions:
 * it waits for masters outside the line too, which spin for a lock and come very late. */
static uint32_t progress(const struct waiter *waiter) {
    return line.passed + (waiter->announces ? cst_load_relaxed(&line.begun) : 0);
}

/* Would a master that does not announce wait in vain? Turns rest, or Haskell code computes on all
 * processors. A member that waits behind that code delays its region by a slice. The other masters
 * can use that time. */
static bool is_in_vain(uint64_t now) {
    return cst_backoff_lasts(&line.rest, now) || cst_rival_computes(now);
}

/* Sleeps until the waiter has the turn. False: no turn was passed for too long. The lock is held at
 * the call and free afterwards. A waiter that is woken with the turn does not need it. The kernel
 * often runs the waiter in place of the passing worker, which then could not release the lock. */
static bool await_turn(struct waiter *waiter, uint32_t before) {
    uint64_t patience = waiter->patience + (uint64_t)CST_TURN_SLICE_NS * before;
    uint64_t begin = cst_clock_ns(), last = begin + CST_ANNOUNCE_MOST_NS;
    uint32_t seen = progress(waiter);
    for (;;) {
        uint64_t length = sleep_length(waiter);
        cst_lock_release(&line.lock);
        cst_futex_wait_for(&waiter->has_turn, 0, length);
        if (has_turn(waiter)) return true;
        cst_lock_acquire(&line.lock);
        uint64_t now = cst_clock_ns();
        if (has_turn(waiter)) break;
        bool over = now - begin >= patience;
        if (line.first == waiter && pass_to(waiter, NULL, cst_cpu_current())) break;
        /* Has another master found out that such waits are in vain? */
        bool in_vain =
            waiter->announces ? !cst_announce_holds(&waiter->thread->asking) : is_in_vain(now);
        if (!over && !in_vain) continue;
        if (in_vain || progress(waiter) == seen || now > last) {
            take_out(waiter);
            if (!waiter->announces && !in_vain) rest(now);
            break;
        }
        begin = now;
        seen = progress(waiter);
    }
    bool has = has_turn(waiter);
    cst_lock_release(&line.lock);
    return has;
}

/* Waits in the line, whose lock is held. True: the thread has the turn. */
static bool stand_in_line(struct waiter *waiter, uint64_t now) {
    uint32_t before = append(waiter);
    if (before == 0) cst_store_relaxed(&line.since, now);
    if (waiter->holds) cst_host_note_sleep(true);
    bool has = await_turn(waiter, before);
    if (waiter->holds) cst_host_note_sleep(false);
    return has;
}

/* The lock is held for some hundred instructions. A signal handler asks too, perhaps of the thread
 * that holds the lock, so the call gives up. */
static bool acquire_soon(cst_lock *lock) {
    for (int tries = 0; tries < CST_TURN_TRIES; tries++) {
        if (cst_lock_try(lock)) return true;
        cst_cpu_relax();
    }
    return false;
}

void cst_turn_announce(struct cst_thread *thread, uint32_t threads, struct cst_team *team,
                       struct cst_turn_from *from) {
    from->team = NULL;
    if (threads < 2 || thread->asking.era != 0) return;
    if (may_begin(thread) && announce(thread, threads, false)) {
        hold(thread);
        return;
    }
    if (!cst_heuristic_is_on(CST_HEURISTIC_TURNS)) return;
    bool holds = cst_host_holds_capability();
    if (holds && !cst_announce_is_prompt(&thread->asking)) return;
    if (!acquire_soon(&line.lock)) return;
    /* This master goes to sleep, so its processor is free for the next one. */
    struct waiter *next = line.first;
    if (pass_to(next, team, no_processor)) {
        cst_lock_release(&line.lock);
        cst_futex_wake(&next->has_turn, 1);
        cst_lock_acquire(&line.lock);
    }
    struct waiter waiter = {.thread = thread,
                            .threads = threads,
                            .announces = true,
                            .holds = holds,
                            .patience = holds ? CST_TURN_PATIENCE_NS : CST_ANNOUNCE_PATIENCE_NS};
    if (stand_in_line(&waiter, cst_clock_ns()))
        *from = waiter.from;
    else
        thread->asking.vain = true;
    if (thread->asking.since != 0) thread->asking.since = cst_clock_ns();
}

/* Takes the turn for a region that was not announced. */
static bool take_turn(struct cst_thread *thread, uint32_t threads, struct cst_turn_from *from) {
    if (may_begin(thread) && take_fitting(threads)) {
        hold(thread);
        if (cst_unlikely(cst_load_relaxed(&cst_turn_waiting) != 0))
            thread->turn_begun = cst_clock_ns();
        return true;
    }
    /* Without a spinning worker no turn is passed on. Threads that wait for the master's Capability
     * would wait too, above all a collection. */
    if (!cst_policy_spins() || cst_rival_was_known()) return false;
    if (!cst_heuristic_is_on(CST_HEURISTIC_TURNS) || cst_host_holds_capability()) return false;
    uint64_t now = cst_clock_ns();
    if (is_in_vain(now)) return false;
    struct waiter waiter = {.thread = thread, .threads = threads, .patience = CST_TURN_PATIENCE_NS};
    cst_lock_acquire(&line.lock);
    bool has = stand_in_line(&waiter, now);
    *from = waiter.from;
    if (has) thread->turn_begun = cst_clock_ns();
    return has;
}

uint32_t cst_turn_take(struct cst_thread *thread, const struct cst_turn *turn,
                       struct cst_turn_from *from) {
    from->team = NULL;
    if (cst_unlikely(cst_load_relaxed(&cst_turn_waiting) != 0)) cst_add_relaxed(&line.begun, 1);
    if (turn->at_most) return take_idle(turn);
    bool announced = thread->asking.era != 0;
    if (turn->may_wait && !announced && take_turn(thread, turn->threads, from))
        return turn->threads;
    cst_add_relaxed(&cst_busy, turn->threads);
    if (cst_unlikely(announced)) come_true(thread);
    return turn->threads;
}

/* A long region may have lost its processor, and counts as one of a slice. */
void cst_turn_note_region(struct cst_thread *thread, uint32_t steps) {
    uint64_t time = cst_clock_ns() - thread->turn_begun;
    thread->turn_begun = 0;
    cst_add_relaxed(&line.time, time < CST_TURN_SLICE_NS ? time : CST_TURN_SLICE_NS);
    cst_add_relaxed(&line.steps, steps);
}

void cst_turn_return(uint32_t threads) {
    cst_sub_relaxed(&cst_busy, threads);
}

void cst_turn_pass(struct cst_seat *seat) {
    /* While all processors are busy a turn is seldom free, so the line's lock is not taken. */
    if (cst_load_relaxed(&cst_busy) >= cst_config.available || !cst_lock_try(&line.lock)) return;
    struct waiter *next = line.first;
    bool passed = pass_to(next, seat->team, cst_cpu_current());
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
    cst_store_relaxed(&line.announced, 0);
    line.first = NULL;
}
