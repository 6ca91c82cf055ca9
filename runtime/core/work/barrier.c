/* The team's barrier; see barrier.h and README.md, "Barrier". */
#include "core/work/barrier.h"

#include "core/task/cancel.h"
#include "core/task/quiesce.h"
#include "core/task/task.h"
#include "core/state/trace.h"
#include "core/wait/wait.h"
#include "platform/happens.h"

/* The condition of a cancellable wait: `word` has reached `target`, or the region is cancelled. */
static bool word_or_cancel_holds(const struct cst_wait *wait) {
    const struct cst_seat *seat = wait->object;
    return cst_reached(wait->word, wait->target) ||
           cst_load_seq_cst(&seat->team->cancelled) == seat->region;
}

/* Waits for `word` to reach `target`. False: cancellation has ended the wait. */
static bool await(struct cst_thread *thread, _Atomic uint32_t *word, uint32_t target,
                  bool cancellable) {
    if (cst_reached(word, target)) return true;
    struct cst_wait wait = {.holds = cancellable ? word_or_cancel_holds : cst_wait_word_holds,
                            .help = cst_task_help,
                            .word = word,
                            .target = target,
                            .object = thread->seat};
    cst_wait(thread, &wait);
    return cst_reached(word, target);
}

/* Signals and waits in ceil(log2 size) rounds. A flag carries twice the barrier's number, plus one
 * if tasks may be outstanding. A member passes that bit on, so in the end all members have the
 * same. Flags alternate by parity: a member can be at most one barrier ahead of another, so the
 * flag of this barrier is not overwritten before it is read. */
static bool disseminate(struct cst_thread *thread, bool cancellable, bool *tasks) {
    struct cst_seat *seat = thread->seat;
    struct cst_team *team = thread->team;
    uint32_t number = seat->barrier, parity = number & 1, size = team->size;
    for (uint32_t round = 0, step = 1; step < size; round++, step *= 2) {
        uint32_t to = seat->number + step;
        struct cst_seat *other = cst_team_seat(team, to < size ? to : to - size);
        cst_exchange_seq_cst(&other->flag[parity][round], 2 * number + *tasks);
        cst_wake(other);
        if (round == 0) cst_prefetch_to_write(&other->flag[parity ^ 1][round]);
        if (!await(thread, &seat->flag[parity][round], 2 * number, cancellable)) return false;
        *tasks |= cst_load_relaxed(&seat->flag[parity][round]) & 1;
    }
    return true;
}

static bool count_down(struct cst_thread *thread, bool cancellable, bool *tasks) {
    struct cst_team *team = thread->team;
    uint32_t number = thread->seat->barrier;
    if (*tasks) cst_central_tell_tasks(team, number);
    /* Release: the writes of this member. Acquire, for the last member: the writes of all. */
    if (cst_sub_acq_rel(&team->awaited, 1) == 1) {
        cst_store_relaxed(&team->awaited, team->size);
        cst_exchange_seq_cst(&team->released, number);
        if (cst_team_has_sleepers(team, thread->seat->region)) cst_team_wake(team);
    } else if (!await(thread, &team->released, number, cancellable)) {
        return false;
    }
    *tasks = cst_central_has_tasks(team, number);
    return true;
}

/* An address for cst_happens_before: one for barriers with even numbers, one for odd numbers. */
static const void *end_of(const struct cst_team *team, uint32_t number) {
    return number & 1 ? &team->released : &team->awaited;
}

static bool wait_for_all(struct cst_thread *thread, bool cancellable) {
    struct cst_seat *seat = thread->seat;
    uint32_t size = thread->team->size;
    seat->barrier++;
    bool tasks = seat->made_tasks;
    seat->made_tasks = false;
    if (size == 1) {
        if (tasks) cst_quiesce(thread);
    } else {
        cst_happens_before(end_of(thread->team, seat->barrier));
        bool passed =
            (thread->team->crowded ? count_down : disseminate)(thread, cancellable, &tasks);
        if (passed && tasks) cst_quiesce(thread);
        if (cst_unlikely(seat->partners > 0)) cst_task_stop_helping(thread);
        if (!passed) return false;
        cst_happens_after(end_of(thread->team, seat->barrier));
        cst_happens_after(&thread->team->quiet); /* also for a late member (barrier.h) */
    }
    seat->construct_at_barrier = seat->construct;
    return true;
}

/* The part of wait_for_all for a member that is alone and has no tasks. */
static inline bool passes_alone(struct cst_thread *thread) {
    struct cst_seat *seat = thread->seat;
    if (thread->team->size > 1 || seat->made_tasks) return false;
    seat->barrier++;
    seat->construct_at_barrier = seat->construct;
    return true;
}

bool cst_barrier_traced(struct cst_thread *thread, bool cancellable) {
    uint32_t size = thread->team->size;
    cst_trace(CST_TRACE_BARRIER_BEGINS, thread, size);
    bool passed = wait_for_all(thread, cancellable);
    if (passed) cst_trace(CST_TRACE_BARRIER_ENDS, cst_self(), size);
    return passed;
}

void cst_barrier_untraced(struct cst_thread *thread) {
    if (!passes_alone(thread)) wait_for_all(thread, false);
}

void cst_barrier(struct cst_thread *thread) {
    if (cst_trace_is_on())
        cst_barrier_traced(thread, false);
    else
        cst_barrier_untraced(thread);
}

bool cst_barrier_cancellable(struct cst_thread *thread) {
    if (cst_region_is_cancelled(thread)) return true;
    bool passed = cst_trace_is_on() ? cst_barrier_traced(thread, true) : wait_for_all(thread, true);
    return !passed || cst_region_is_cancelled(thread);
}
