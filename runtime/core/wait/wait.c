/* The loop in which a member waits: it polls, spins, yields, then sleeps; see wait.h. policy.h has
 * the length of each step. The state of the processors selects the steps:
 *
 *   - No other thread wants the processor: the member spins for a few milliseconds. The next region
 *     or the last member is probably near, and to wake a sleeper costs far more than a region.
 *   - More threads are busy in regions than there are processors: a spinning thread would keep a
 *     processor from the thread that it waits for. So it yields, and sleeps if yields cost time
 *     slices (yields.h).
 *   - Another process wants the processors (rival.h): the member sleeps at once.
 *   - This process forks: its idle workers sleep, as the child wants a processor. */
#include "core/wait/wait.h"

#include "core/wait/apart.h"
#include "core/wait/park.h"
#include "core/wait/patience.h"
#include "core/wait/policy.h"
#include "core/wait/rival.h"
#include "core/settings/config.h"
#include "core/budget/permit.h"
#include "core/budget/share.h"
#include "core/host/host.h"
#include "core/wait/box.h"
#include "core/host/busy.h"
#include "core/wait/together.h"
#include "core/wait/turn.h"
#include "core/wait/yields.h"

bool cst_wait_word_holds(const struct cst_wait *wait) {
    return cst_reached(wait->word, wait->target);
}

static void pause_between_polls(const struct cst_thread *thread, const struct cst_wait *wait) {
    if (wait->patient)
        cst_cpu_relax_times(cst_patience_pauses(&thread->patience));
    else
        cst_cpu_relax();
}

bool cst_wait_helped(struct cst_thread *thread, const struct cst_wait *wait) {
    if (!wait->help || !wait->help(thread, wait)) return false;
    cst_coroutine_before_wait(thread->coroutine); /* the task may have made a callback */
    return true;
}

/* Do busy threads want all processors? A thread that waits in a region counts as busy. A worker
 * that has left a region counts too, until the master ends the region. */
static bool is_oversubscribed(const struct cst_thread *thread, const struct cst_wait *wait) {
    if (cst_unlikely(thread->seat->crowded == CST_TOGETHER)) return !wait->idle;
    uint32_t busy = cst_busy_threads();
    if (!wait->idle || busy != cst_config.available) return busy > cst_config.available;
    return cst_load_relaxed(&thread->seat->team->running) != thread->seat->region;
}

/* Is the waiter an idle worker whose processor others can use: Haskell code of this process, or a
 * process that shares processors with it? Then it sleeps at once. A wake-up costs less than
 * spinning takes from Haskell code, above all from the collector, whose threads wait for each
 * other. If masters stand in line, it stays until its own master's region has ended, and passes the
 * turn on. */
static inline bool is_unwanted(const struct cst_thread *thread, const struct cst_wait *wait,
                               uint64_t waited) {
    if (!wait->idle || cst_policy.forever) return false;
    if (thread->seat->crowded == CST_TOGETHER || cst_share_is_tight()) return true;
    if (!cst_heuristic_is_on(CST_HEURISTIC_HASKELL)) return false;
    if (waited < CST_SPIN_BESIDE_NS && cst_load_relaxed(&cst_turn_waiting) != 0) return false;
    return cst_host_haskell_fills();
}

struct cst_forks cst_forks;

void cst_wait_note_fork(void) {
    cst_add_relaxed(&cst_forks.number, 1);
}

/* Has the process forked since the idle worker's last region began? Then it sleeps: the child wants
 * a processor, and the thread that forked mostly waits for the child. The fork may come before the
 * worker begins to spin. */
static inline bool has_forked(const struct cst_thread *thread, const struct cst_wait *wait) {
    return wait->idle && cst_unlikely(cst_load_relaxed(&cst_forks.number) != thread->forks) &&
           !cst_policy.forever && cst_heuristic_is_on(CST_HEURISTIC_FORKS);
}

/* Does the thread never sleep, as the user wishes (cst_policy.forever)? A worker whose last master
 * has ended does sleep: no master may ever need it again. */
static inline bool is_endless(const struct cst_thread *thread, const struct cst_wait *wait) {
    if (cst_likely(!cst_policy.forever)) return false;
    return !wait->idle || cst_load_relaxed(&thread->seat->team->served) != 0;
}

/* An idle worker passes the turn to the next master. */
static inline void pass_turn(struct cst_thread *thread, const struct cst_wait *wait) {
    if (wait->idle && cst_unlikely(cst_load_relaxed(&cst_turn_waiting) != 0))
        cst_turn_pass(thread->seat);
}

/* The last time at which the thread knew that there was no filter of system calls. */
static uint64_t unfiltered_at(const struct cst_thread *thread) {
    return thread->asked_at > thread->waited_to ? thread->asked_at : thread->waited_to;
}

/* Looks for a filter of system calls. The waits below make system calls that a confined program may
 * not make. The kernel needs CST_FILTER_NS to install a filter. So a thread asks only if this time
 * has passed since its last answer, and since its last wait in which it yielded. Before that, its
 * own code cannot have installed one, nor can its master after the region. A team of four on two
 * processors forks in 3.9 us, and in 4.4 us if each member asks in each region. */
static void look_for_filter(struct cst_thread *thread) {
    uint64_t now = cst_clock_ns();
    if (now - unfiltered_at(thread) < CST_FILTER_NS) return;
    thread->asked_at = now;
    (void)cst_confined_now();
}

/* May the thread be confined by the time of its next system call? The kernel likes to take the
 * processor at the end of a system call, and a filter may come before the thread runs again. So the
 * thread asks until it has kept its processor meanwhile. A tracer makes each call last long: after
 * CST_FILTER_QUESTIONS such calls the thread does not know, and may be confined. */
static bool may_be_confined(void) {
    if (cst_confined()) return true;
    uint64_t end = cst_clock_ns();
    for (uint32_t questions = 0; questions < CST_FILTER_QUESTIONS; questions++) {
        uint64_t begin = end;
        if (cst_confined_self()) return true;
        end = cst_clock_ns();
        if (end - begin <= CST_FILTER_NS) return false;
    }
    return true;
}

/* Yields to a member that may be queued behind this one. A new thread, or a former member of a
 * large team, may be queued behind the very member that spins for it, while another processor
 * idles. The kernel needs one to ten milliseconds to move it. So a member that has spun for a while
 * yields, which costs little if no thread is queued. If one yield was enough, the next wait yields
 * immediately.
 *
 * If the yield lasted long, the other member computed here and could have computed elsewhere
 * meanwhile: this one moves away. It also moves if short yields helped several times in a row: then
 * the two are alone on the processor. After a lost slice it yields only to a member that was last
 * seen on its processor. Otherwise another process may be queued, and a member beside it must not
 * give away the rest of its slice (apart.c). True: the condition holds. */
static bool give_way(struct cst_thread *thread, const struct cst_wait *wait) {
    if (!cst_heuristic_is_on(CST_HEURISTIC_GIVEWAY)) return false;
    if (cst_load_relaxed(&cst_rival_seen) && !cst_apart_is_beside(thread)) return false;
    look_for_filter(thread);
    if (cst_confined() || (wait->idle && may_be_confined())) return false;
    uint64_t begin = cst_clock_ns();
    cst_yield_again();
    if (!wait->holds(wait)) {
        thread->ahead = 0;
        return false;
    }
    bool alone = cst_clock_ns() - begin < CST_GIVEWAY_ALONE_NS;
    thread->ahead = alone ? thread->ahead + 1 : 1;
    if (!alone) {
        cst_apart_at_once(thread);
    } else if (thread->ahead > CST_GIVEWAY_TIMES) {
        thread->ahead = 0;
        cst_apart_from(cst_cpu_current());
    }
    return true;
}

/* The length of a slice that the thread has lost, perhaps to a rival. A member of its own team that
 * is on its processor is none: the kernel may queue the two there while another processor idles. If
 * its slices counted, no member would give way any more, and more of them would be lost. */
static uint64_t lost_to_others(struct cst_thread *thread, uint64_t ns) {
    return cst_unlikely(ns >= CST_RIVAL_SLICE_NS) && cst_apart_is_beside(thread) ? 0 : ns;
}

/* The wait has ended. Has the thread lost a slice since `last`? */
static void note_end(struct cst_thread *thread, uint64_t last) {
    uint64_t now = cst_clock_ns();
    cst_rival_note(&thread->rival, lost_to_others(thread, now - last), now);
}

/* Spins without giving the processor away for long. True: the condition holds. False: another
 * thread wants the processor, or the time is over. */
static bool spin(struct cst_thread *thread, const struct cst_wait *wait) {
    uint64_t begin = cst_clock_ns(), last = begin, apart_ns = CST_SPIN_APART_NS;
    bool asked = wait->idle;
    uint32_t burst = cst_policy.burst_polls;
    for (;;) {
        bool has_helped = false;
        pass_turn(thread, wait);
        for (uint32_t i = 0; i < burst; i++) {
            if (wait->holds(wait)) {
                if (!has_helped) note_end(thread, last);
                return true;
            }
            has_helped |= cst_wait_helped(thread, wait);
            pause_between_polls(thread, wait);
        }
        uint64_t now = cst_clock_ns();
        if (has_helped) begin = last = now, apart_ns = CST_SPIN_APART_NS;
        if (cst_rival_took(&thread->rival, lost_to_others(thread, now - last), now)) return false;
        if (is_oversubscribed(thread, wait) || is_unwanted(thread, wait, now - begin)) return false;
        if (has_forked(thread, wait)) return false;
        if (now - begin > apart_ns) {
            cst_together_suggest(thread->seat->team);
            apart_ns = cst_apart(thread) ? UINT64_MAX : 2 * apart_ns;
            if (give_way(thread, wait)) return true;
        }
        if (now - begin > cst_policy.spin_ns && !is_endless(thread, wait)) return false;
        if (!asked && now - begin > CST_SPIN_LONG_NS) {
            asked = true;
            cst_rival_ask(&thread->rival);
        }
        last = now;
    }
}

/* Yields to other threads for a while. True: the condition holds. An idle worker may yield when its
 * region is over. Then other threads of the program run, and may install a filter for all threads.
 * So the worker asks before each yield. It need not if it has not spun, and its region has ended
 * within CST_FILTER_NS: the kernel has not had the time to install one. */
static bool yield(struct cst_thread *thread, const struct cst_wait *wait, bool has_spun) {
    uint64_t last = cst_clock_ns(), unfiltered = has_spun ? 0 : unfiltered_at(thread);
    bool endless = is_endless(thread, wait);
    if (!endless && (cst_confined() || cst_yields_cost(&thread->yields, last))) return false;
    for (uint32_t yields = 0; yields < cst_policy.yields || endless; yields++) {
        if (wait->holds(wait)) {
            if (!thread->seat->crowded && (yields == 1) != (thread->ahead > 0))
                thread->ahead = yields == 1;
            thread->waited_to = last;
            return true;
        }
        if (cst_wait_helped(thread, wait)) yields = 0, last = cst_clock_ns();
        pass_turn(thread, wait);
        if (wait->idle && last - unfiltered > CST_FILTER_NS && may_be_confined()) break;
        cst_yield_again();
        uint64_t now = cst_clock_ns();
        if (cst_yields_took(&thread->yields, last, now) && !endless) break;
        last = now;
        endless = endless && is_endless(thread, wait);
    }
    return false;
}

static uint64_t beyond(uint64_t ticks, uint64_t clock) {
    return ticks > clock ? ticks - clock : 0;
}

/* Polls and times the polls. A patient wait is one without help. To read the clock takes as long as
 * several pauses on some processors, so that is timed as well. */
static bool poll_timed(struct cst_thread *thread, const struct cst_wait *wait, uint32_t polls) {
    for (uint32_t i = 0; i < polls; i++) {
        uint32_t pauses = cst_patience_pauses(&thread->patience);
        uint64_t before = cst_clock_ticks_in_order(), begin = cst_clock_ticks_in_order();
        pause_between_polls(thread, wait);
        uint64_t paused = cst_clock_ticks_in_order();
        if (wait->holds(wait)) {
            uint64_t fetched = cst_clock_ticks_in_order(), clock = begin - before;
            cst_patience_learn(&thread->patience, beyond(paused - begin, clock) / pauses,
                               beyond(fetched - paused, clock));
            return true;
        }
    }
    return false;
}

bool cst_wait_briefly(struct cst_thread *thread, const struct cst_wait *wait) {
    /* Reads the seat's own flag, since every region writes the count of busy threads. */
    if (cst_policy.spin_ns == 0 || thread->seat->crowded) return false;
    uint32_t polls =
        cst_unlikely(cst_rival_was_known()) ? cst_policy.rivalled_polls : cst_policy.first_polls;
    if (wait->patient && cst_patience_is_due(&thread->patience))
        return poll_timed(thread, wait, polls);
    for (uint32_t i = 0; i < polls; i++) {
        if (wait->holds(wait)) return true;
        if (cst_wait_helped(thread, wait)) i = 0;
        pause_between_polls(thread, wait);
    }
    return false;
}

/* Is a rival known? The answer of another member counts; otherwise this one asks the kernel. It
 * does not on an oversubscribed machine, where members displace each other from the processors. */
static bool is_rivalled(struct cst_thread *thread) {
    if (cst_policy.forever || thread->seat->crowded == CST_TOGETHER) return false;
    if (cst_rival_is_known()) return true;
    if (cst_busy_threads() > cst_config.available) {
        cst_rival_forgive(&thread->rival);
        return false;
    }
    cst_rival_look(&thread->rival);
    return cst_rival_is_known();
}

void cst_wait(struct cst_thread *thread, const struct cst_wait *wait) {
    cst_rival_answer(&thread->rival);
    thread->rival.waits++;
    bool ahead = cst_unlikely(thread->ahead > 0) && !thread->seat->crowded;
    if (!ahead && cst_wait_briefly(thread, wait)) return;
    cst_coroutine_before_wait(thread->coroutine);
    if (ahead && give_way(thread, wait)) return;
    while (!wait->holds(wait)) {
        if (cst_wait_helped(thread, wait)) continue;
        if (cst_unlikely(thread->team->orphaned)) return; /* no member is left to end the wait */
        look_for_filter(thread);
        if (!is_rivalled(thread)) {
            bool spins = cst_policy.spin_ns > 0 && !is_unwanted(thread, wait, 0) &&
                         !is_oversubscribed(thread, wait);
            if (spins && spin(thread, wait)) return;
            if (is_oversubscribed(thread, wait) && yield(thread, wait, spins)) return;
            if (wait->holds(wait)) return;
            if (is_endless(thread, wait)) continue;
        }
        if (wait->idle) {
            cst_permit_offer(false);
            cst_together_suggest(thread->seat->team);
        }
        if (!cst_park(thread, wait)) return;
    }
}
