/* Spin, yield, sleep; see wait.h. How long to spin is decided here and nowhere else:
 *
 *   - nobody else wants the core: spin for a few milliseconds, as the next region or the last
 *     member is likely near, and waking a sleeper costs far more than a region;
 *   - the team has more members than there are processors: whoever spins keeps the processor from
 *     the one waited for, so yield at once; sleep where yields cost slices (yields.h);
 *   - another process wants the cores (rival.h): sleep at once. */
#include "core/wait/wait.h"

#include "core/wait/apart.h"
#include "core/settings/config.h"
#include "core/host/host.h"
#include "core/wait/box.h"
#include "core/host/busy.h"
#include "core/wait/turn.h"
#include "core/wait/yields.h"

static struct {
    uint64_t spin_ns;        /* alone on the core */
    uint32_t crowded_yields; /* in a crowded team, before sleeping */
    bool forever;            /* OMP_WAIT_POLICY=active, GOMP_SPINCOUNT=infinite */
} policy;

enum {
    FIRST_POLLS = 200,  /* without asking the clock, */
    RIVALLED_POLLS = 5, /* and beside a rival: enough for a member that has a processor */
    SPIN_NS = 5000000,  /* default */
    SPIN_COUNT_NS = 10, /* what one GOMP_SPINCOUNT is taken to last */
    CROWDED_YIELDS = 300,
    BURST = 100,              /* polls between two looks at the clock */
    PATIENT_PAUSES = 4,       /* between two polls */
    LONG_NS = 1000000,        /* a wait in a region so long raises a suspicion */
    APART_NS = 20000,         /* so long, and it may stand in the way of whom it waits for */
    ALONE_NS = 50000,         /* a yield that takes longer let others run than whom it was for */
    AHEAD_TIMES = 32,         /* in a row: no chance */
    UNSEEN_TASK_NS = 1000000, /* without membarrier(2): how long a task may go unseen */
};

void cst_wait_init(void) {
    policy.spin_ns = SPIN_NS;
    policy.crowded_yields = CROWDED_YIELDS;
    if (cst_config.wait_policy == CST_WAIT_PASSIVE) policy.spin_ns = policy.crowded_yields = 0;
    if (cst_config.wait_policy == CST_WAIT_ACTIVE) policy.forever = true;
    if (cst_config.spin_count_given) {
        policy.forever = cst_config.spin_count > UINT32_MAX;
        policy.spin_ns = cst_config.spin_count * SPIN_COUNT_NS;
        if (cst_config.spin_count == 0) policy.crowded_yields = 0;
    }
}

bool cst_wait_spins(void) {
    return policy.spin_ns > 0 || policy.forever;
}

bool cst_wait_word_holds(const struct cst_wait *wait) {
    return cst_reached(wait->word, wait->target);
}

static void pause_between_polls(const struct cst_wait *wait) {
    int pauses = wait->patient ? PATIENT_PAUSES : 1;
    for (int i = 0; i < pauses; i++) cst_cpu_relax();
}

static bool helped(struct cst_thread *thread, const struct cst_wait *wait) {
    if (!wait->help || !wait->help(thread, wait)) return false;
    cst_coroutine_before_wait(thread->coroutine); /* the task may have called back */
    return true;
}

/* Counts for the region that the member last executed; a count of a later region stays. */
static void count_sleeper(struct cst_team *team, uint32_t region, int change) {
    uint64_t old = cst_load_relaxed(&team->sleepers), new;
    do {
        uint32_t counted = (uint32_t)(old >> 32);
        if (counted != region && (change < 0 || (int32_t)(counted - region) > 0)) return;
        uint32_t count = counted == region ? (uint32_t)old : 0;
        new = (uint64_t)region << 32 | (count + (uint32_t)change);
    } while (!cst_cas_seq_cst(&team->sleepers, &old, new));
}

void cst_wake_parked(struct cst_seat *seat) {
    bool parts = cst_apart_woken_here() && cst_busy_threads() <= cst_config.available;
    uint32_t state = CST_PARKED;
    if (!cst_cas_seq_cst(&seat->dock.parked, &state, parts ? CST_PARTING : CST_AWAKE)) return;
    int32_t sleeper = cst_load_relaxed(&seat->dock.sleeper);
    cst_store_relaxed(&seat->dock.woken_on, cst_cpu_current() + 1);
    bool slept = cst_futex_wake(&seat->dock.parked, 1) > 0;
    if (!parts) return;
    if (slept) cst_cpu_part_woken(sleeper);
    cst_exchange_seq_cst(&seat->dock.parked, CST_AWAKE);
}

void cst_team_wake(struct cst_team *team) {
    for (uint32_t i = 0; i < team->size; i++) cst_wake(cst_team_seat(team, i));
}

/* The seat is not parked any more, and who woke the member has done with it. */
static void leave(struct cst_seat *seat) {
    uint32_t state = CST_PARKED;
    while (!cst_cas_seq_cst(&seat->dock.parked, &state, CST_AWAKE)) {
        if (state == CST_AWAKE) return;
        cst_yield();
        state = CST_PARKED;
    }
}

/* W3. False: the waiter's patience has ended. */
static bool sleep_parked(struct cst_seat *seat, const struct cst_wait *wait, bool sees_tasks) {
    _Atomic uint32_t *word = &seat->dock.parked;
    if (sees_tasks && wait->patience > 0)
        return cst_futex_wait_for(word, CST_PARKED, wait->patience);
    if (sees_tasks)
        cst_futex_wait(word, CST_PARKED);
    else
        cst_futex_wait_for(word, CST_PARKED, UNSEEN_TASK_NS);
    return true;
}

/* W1 to W3. Returns when woken, or when there is something to do. False: the waiter's patience has
 * ended. */
static bool park(struct cst_thread *thread, const struct cst_wait *wait) {
    struct cst_seat *seat = thread->seat;
    struct cst_team *team = seat->team;
    bool in_time = true;
    if (!cst_box_close(seat)) return true; /* it has been given a task */
    cst_store_relaxed(&seat->dock.sleeper, cst_thread_id());
    cst_exchange_seq_cst(&seat->dock.parked, CST_PARKED); /* W1 */
    bool sees_tasks = true;
    if (wait->help) {
        count_sleeper(team, seat->region, 1);
        /* Who defers a task looks at `sleepers` without a fence; this makes its store of the
         * task visible to us, or our count visible to it (task.c, announce). */
        sees_tasks = cst_process_barrier();
    }
    if (!wait->holds(wait) && !helped(thread, wait)) { /* W2, W3 */
        in_time = sleep_parked(seat, wait, sees_tasks);
        if (wait->idle && in_time) cst_apart_woken(cst_load_relaxed(&seat->dock.woken_on));
    }
    if (wait->help) count_sleeper(team, seat->region, -1);
    leave(seat);
    cst_apart_say(seat);
    return in_time;
}

/* Do those who work want all processors? Who waits in a region is counted as one of them; so is a
 * worker that has left one, until its master ends it. */
static bool is_crowded(const struct cst_thread *thread, const struct cst_wait *wait) {
    uint32_t busy = cst_busy_threads();
    if (!wait->idle || busy != cst_config.available) return busy > cst_config.available;
    return cst_load_relaxed(&thread->seat->team->running) != thread->seat->region;
}

/* Is it a worker without a region where Haskell code of the same process has a use for every
 * processor? It sleeps at once: to be woken costs less than what it takes from Haskell code, and
 * above all from the collector, whose threads wait for each other. */
static inline bool is_unwanted(const struct cst_wait *wait) {
    return wait->idle && !policy.forever && cst_host_haskell_fills();
}

/* Does the thread never sleep, as the user wishes (policy.forever)? A worker whose last master has
 * ended does: it may be wanted never again. */
static inline bool is_endless(const struct cst_thread *thread, const struct cst_wait *wait) {
    if (cst_likely(!policy.forever)) return false;
    return !wait->idle || cst_load_relaxed(&thread->seat->team->served) != 0;
}

/* A worker that has nothing to do sees to it that the next master begins. */
static inline void pass_turn(struct cst_thread *thread, const struct cst_wait *wait) {
    if (wait->idle && cst_unlikely(cst_load_relaxed(&cst_turn_waiting) != 0))
        cst_turn_pass(thread->seat);
}

/* A new thread, or one of a large team before, may be queued behind the very member that spins for
 * it, while another processor idles: the kernel takes milliseconds to some ten to see it. So who
 * has spun for a while yields, which costs next to nothing where nobody is queued; and at once the
 * next time if that was all that was missing. Where the processor was gone for longer, the other
 * has computed here what it could have computed elsewhere meanwhile, and one moves away; also if it
 * comes back at once, time and again: the two are alone there. Not after a slice was lost: it may
 * be another process that waits, and who goes on beside one must not give away what is left of its
 * slice (apart.c). True: the condition holds. */
static bool give_way(struct cst_thread *thread, const struct cst_wait *wait) {
    if (cst_load_relaxed(&cst_rival_seen)) return false;
    uint64_t begin = cst_clock_ns();
    cst_yield();
    if (!wait->holds(wait)) {
        thread->ahead = 0;
        return false;
    }
    bool alone = cst_clock_ns() - begin < ALONE_NS;
    thread->ahead = alone ? thread->ahead + 1 : 1;
    if (!alone) {
        cst_apart_at_once(thread);
    } else if (thread->ahead > AHEAD_TIMES) {
        thread->ahead = 0;
        cst_apart_from(cst_cpu_current());
    }
    return true;
}

/* Spins without giving the core away for long. True: the condition holds. False: someone else wants
 * the core, or time is up. */
static bool spin(struct cst_thread *thread, const struct cst_wait *wait) {
    uint64_t begin = cst_clock_ns(), last = begin, apart_ns = APART_NS;
    bool asked = wait->idle;
    for (;;) {
        bool has_helped = false;
        pass_turn(thread, wait);
        for (int i = 0; i < BURST; i++) {
            if (wait->holds(wait)) return true;
            has_helped |= helped(thread, wait);
            pause_between_polls(wait);
        }
        if (is_crowded(thread, wait) || is_unwanted(wait)) return false;
        uint64_t now = cst_clock_ns();
        if (has_helped) begin = last = now, apart_ns = APART_NS;
        if (now - begin > apart_ns) {
            apart_ns = cst_apart(thread) ? UINT64_MAX : 2 * apart_ns;
            if (give_way(thread, wait)) return true;
        }
        if (now - begin > policy.spin_ns && !is_endless(thread, wait)) return false;
        if (cst_rival_took(&thread->rival, now - last, now)) return false;
        if (!asked && now - begin > LONG_NS) {
            asked = true;
            cst_rival_ask(&thread->rival);
        }
        last = now;
    }
}

/* Lets the others run, for a while. True: the condition holds. */
static bool yield(struct cst_thread *thread, const struct cst_wait *wait) {
    uint64_t last = cst_clock_ns();
    bool endless = is_endless(thread, wait);
    if (!endless && cst_yields_cost(&thread->yields, last)) return false;
    for (uint32_t yields = 0; yields < policy.crowded_yields || endless; yields++) {
        if (wait->holds(wait)) {
            if (!thread->seat->crowded && (yields == 1) != (thread->ahead > 0))
                thread->ahead = yields == 1;
            return true;
        }
        if (helped(thread, wait)) yields = 0, last = cst_clock_ns();
        pass_turn(thread, wait);
        cst_yield();
        uint64_t now = cst_clock_ns();
        if (cst_yields_took(&thread->yields, last, now) && !endless) break;
        last = now;
        endless = endless && is_endless(thread, wait);
    }
    return false;
}

bool cst_wait_briefly(struct cst_thread *thread, const struct cst_wait *wait) {
    /* The seat's own word: every region writes the pool's count. */
    if (policy.spin_ns == 0 || thread->seat->crowded) return false;
    int polls = cst_unlikely(cst_rival_was_known()) ? RIVALLED_POLLS : FIRST_POLLS;
    for (int i = 0; i < polls; i++) {
        if (wait->holds(wait)) return true;
        if (helped(thread, wait)) i = 0;
        pause_between_polls(wait);
    }
    return false;
}

/* Believes what another member has found out, and else asks the kernel; not in a crowded team, in
 * which the members drive each other from the processors. */
static bool is_rivalled(struct cst_thread *thread) {
    if (policy.forever) return false;
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
        if (helped(thread, wait)) continue;
        if (cst_unlikely(thread->team->orphaned)) return; /* nobody is left to end the wait */
        if (!is_rivalled(thread)) {
            bool spins = policy.spin_ns > 0 && !is_unwanted(wait);
            if (spins && !is_crowded(thread, wait) && spin(thread, wait)) return;
            if (is_crowded(thread, wait) && yield(thread, wait)) return;
            if (wait->holds(wait)) return;
            if (is_endless(thread, wait)) continue;
        }
        if (!park(thread, wait)) return;
    }
}
