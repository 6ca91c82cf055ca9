/* The sleep and wake-up of a member; see park.h. */
#include "core/wait/park.h"

#include "core/host/busy.h"
#include "core/wait/apart.h"
#include "core/wait/box.h"
#include "core/wait/policy.h"
#include "core/wait/together.h"

/* Counts a sleeper of the region that the member last executed. A count of a later region stays. */
static void count_sleeper(struct cst_team *team, uint32_t region, int change) {
    uint64_t old = cst_load_relaxed(&team->sleepers), new;
    do {
        uint32_t counted = (uint32_t)(old >> 32);
        if (counted != region && (change < 0 || (int32_t)(counted - region) > 0)) return;
        uint32_t count = counted == region ? (uint32_t)old : 0;
        new = (uint64_t)region << 32 | (count + (uint32_t)change);
    } while (!cst_cas_seq_cst(&team->sleepers, &old, new));
}

/* The processor to which a woken member has to be moved, plus 1, or one of these two. */
enum { ANYWHERE = 0, AWAY = 64 * CST_CPU_MASK_WORDS + 1 };

static uint32_t destination(struct cst_seat *seat) {
    if (cst_unlikely(cst_load_relaxed(&seat->team->together.processors) > 0)) {
        uint32_t place = cst_together_place(seat);
        return cst_load_relaxed(&seat->seen_on) == place ? ANYWHERE : place;
    }
    bool parts = cst_heuristic_is_on(CST_HEURISTIC_WAKE) && cst_apart_woken_here() &&
                 cst_busy_threads() <= cst_config.available;
    return parts ? AWAY : ANYWHERE;
}

static void move(int32_t sleeper, uint32_t to) {
    if (to == AWAY)
        cst_cpu_part_woken(sleeper);
    else
        cst_cpu_move(sleeper, to - 1);
}

void cst_wake_parked(struct cst_seat *seat) {
    uint32_t to = destination(seat), state = CST_PARKED;
    /* Relaxed: the woken member tests its condition again, and parks again if it does not see K1
     * yet. */
    if (!cst_cas_relaxed(&seat->dock.parked, &state, to ? CST_PARTING : CST_AWAKE)) return;
    int32_t sleeper = cst_load_relaxed(&seat->dock.sleeper);
    cst_store_relaxed(&seat->dock.woken_on, cst_cpu_current() + 1);
    bool slept = cst_futex_wake(&seat->dock.parked, 1) > 0;
    if (!to) return;
    if (slept && sleeper != 0) move(sleeper, to);
    cst_store_release(&seat->dock.parked, CST_AWAKE); /* it may go on; pairs with leave */
}

void cst_team_wake(struct cst_team *team) {
    for (uint32_t i = 0; i < team->size; i++) cst_wake(cst_team_seat(team, i));
}

/* Ends the parked state, and waits until a waker that moves the member has finished. */
static void leave(struct cst_seat *seat) {
    for (;;) {
        uint32_t state = cst_load_acquire(&seat->dock.parked); /* pairs with its waker's store */
        if (state == CST_AWAKE) return;
        if (state == CST_PARTING)
            cst_yield();
        else if (cst_cas_relaxed(&seat->dock.parked, &state, CST_AWAKE))
            return;
    }
}

/* May the waiter run a task that a member defers from now on? An idle worker may not once its
 * region has ended: all tasks of the region are complete. Relaxed: an old answer is yes. */
static bool may_help(const struct cst_thread *thread, const struct cst_wait *wait) {
    if (!wait->help) return false;
    const struct cst_seat *seat = thread->seat;
    return !wait->idle || cst_load_relaxed(&seat->team->running) == seat->region;
}

/* W3 for a waiter that may miss the announcement of a task: it looks for tasks itself, ever more
 * rarely, without spinning between the looks. False: the waiter's patience has ended. */
static bool sleep_looking(struct cst_thread *thread, const struct cst_wait *wait, uint64_t first) {
    uint64_t left = wait->patience > 0 ? wait->patience : UINT64_MAX, each = first;
    for (;;) {
        uint64_t time = each < left ? each : left;
        if (cst_futex_wait_for(&thread->seat->dock.parked, CST_PARKED, time)) return true;
        left -= time;
        if (left == 0) return false;
        if (wait->holds(wait) || cst_wait_helped(thread, wait)) return true;
        if (!may_help(thread, wait))
            each = UINT64_MAX;
        else if (each < CST_UNSEEN_MOST_NS)
            each *= 2;
    }
}

/* W3. False: the waiter's patience has ended. */
static bool sleep_parked(struct cst_seat *seat, const struct cst_wait *wait) {
    _Atomic uint32_t *word = &seat->dock.parked;
    if (wait->patience > 0) return cst_futex_wait_for(word, CST_PARKED, wait->patience);
    cst_futex_wait(word, CST_PARKED);
    return true;
}

/* W1 to W3. Returns when woken, or when the condition holds or a task was run. False: the waiter's
 * patience has ended. */
bool cst_park(struct cst_thread *thread, const struct cst_wait *wait) {
    struct cst_seat *seat = thread->seat;
    struct cst_team *team = seat->team;
    bool in_time = true;
    if (!cst_box_close(seat)) return true; /* it has been given a task */
    if (cst_unlikely(thread->id == 0)) thread->id = cst_thread_id();
    cst_store_relaxed(&seat->dock.sleeper, thread->id);
    cst_exchange_seq_cst(&seat->dock.parked, CST_PARKED); /* W1 */
    bool helps = may_help(thread, wait), sees_tasks = true;
    /* An idle worker that shares its processor with the makers of tasks has no use for their tasks
     * soon. The barrier would interrupt Haskell code, and takes 20 us in a virtual machine. To set
     * and cancel a timer that is due before the scheduler's next tick takes as long. */
    bool disturbs = !wait->idle || seat->crowded != CST_TOGETHER;
    if (helps) {
        count_sleeper(team, seat->region, 1);
        /* A member that defers a task reads `sleepers` without a fence. This barrier makes its
         * store of the task visible to this member, or this member's count visible to it (make.c,
         * announce). */
        sees_tasks = disturbs && cst_process_barrier();
    }
    if (!wait->holds(wait) && !cst_wait_helped(thread, wait)) { /* W2, W3 */
        if (wait->idle) cst_sub_relaxed(&cst_awake, 1);
        uint64_t first = disturbs ? CST_UNSEEN_TASK_NS : CST_UNSEEN_TOGETHER_NS;
        in_time = sees_tasks ? sleep_parked(seat, wait) : sleep_looking(thread, wait, first);
        if (wait->idle) cst_add_relaxed(&cst_awake, 1);
        if (wait->idle && in_time) cst_apart_woken(cst_load_relaxed(&seat->dock.woken_on));
    }
    if (helps) count_sleeper(team, seat->region, -1);
    leave(seat);
    cst_apart_say(seat);
    return in_time;
}
