/* The search for a task to run; see steal.h, and README.md, "Large teams". */
#include "core/task/steal.h"

#include "core/task/queue.h"
#include "core/task/task.h"
#include "core/wait/box.h"

enum {
    ELSEWHERE_EVERY = 8, /* looks at partners between two looks at another member */
    PATIENCE = 16,       /* times that a thief leaves a task to the deque's heirs */
};

/* --- thieves ---------------------------------------------------------------------------- */

struct thief {
    struct cst_thread *thread;
    cst_deque_permit *permit;
    bool progeny;
    bool lost;
};

static struct cst_deque *deque_of(struct thief *thief, uint32_t victim) {
    return &cst_team_seat(thief->thread->team, victim)->deque;
}

static struct cst_task *rob(struct thief *thief, uint32_t victim) {
    return cst_deque_steal(deque_of(thief, victim), thief->permit, thief->thread, &thief->lost);
}

/* Tries all members, beginning with the one from which it stole last. */
static struct cst_task *rob_anyone(struct thief *thief) {
    struct cst_seat *seat = thief->thread->seat;
    for (uint32_t i = 0, size = seat->size; i < size; i++) {
        uint32_t victim = (seat->victim + i) % size;
        struct cst_task *task = victim != seat->number ? rob(thief, victim) : NULL;
        if (!task) continue;
        seat->victim = victim;
        return task;
    }
    return NULL;
}

/* May the thief take from the deque? For a while it leaves the tasks to the deque's heirs. */
static bool is_for(struct thief *thief, struct cst_deque *deque, uint32_t self) {
    uint32_t heirs = cst_load_relaxed(&deque->heirs);
    return thief->progeny || (heirs & self) != 0 || heirs == 0 ||
           ++thief->thread->seat->restraint >= PATIENCE;
}

/* Robs the member at the distance of partner i: the member that hands tasks to this one or, for
 * progeny, the member to which this one hands tasks. */
static struct cst_task *rob_partner(struct thief *thief, uint32_t i) {
    struct cst_seat *seat = thief->thread->seat;
    uint32_t distance = 1u << i;
    uint32_t victim = seat->number + (thief->progeny ? distance : seat->size - distance);
    if (victim >= seat->size) victim -= seat->size;
    struct cst_deque *deque = deque_of(thief, victim);
    if (cst_deque_is_empty(deque) || !is_for(thief, deque, distance)) return NULL;
    struct cst_task *task = rob(thief, victim);
    if (task && !thief->progeny)
        cst_box_begin_with(seat, cst_and_relaxed(&deque->heirs, ~distance) & ~distance);
    return task;
}

static struct cst_task *rob_elsewhere(struct thief *thief) {
    struct cst_seat *seat = thief->thread->seat;
    uint32_t victim = (seat->number + seat->elsewhere++) % seat->size;
    struct cst_deque *deque = deque_of(thief, victim);
    if (victim == seat->number || cst_deque_is_empty(deque) || !is_for(thief, deque, 0))
        return NULL;
    struct cst_task *task = rob(thief, victim);
    if (task) cst_box_begin(seat);
    return task;
}

static struct cst_task *rob_near(struct thief *thief) {
    struct cst_seat *seat = thief->thread->seat;
    struct cst_task *task = NULL;
    for (uint32_t i = 0; !task && i < seat->partners; i++) task = rob_partner(thief, i);
    if (!task && ++seat->looks % ELSEWHERE_EVERY == 0) task = rob_elsewhere(thief);
    if (task) seat->restraint = 0;
    return task;
}

/* In the child of a fork: a member that is gone has not begun the task in its box. */
static struct cst_task *take_from_boxes(struct thief *thief) {
    struct cst_thread *thread = thief->thread;
    for (uint32_t i = 0; i < thread->seat->size; i++) {
        struct cst_seat *other = cst_team_seat(thread->team, i);
        struct cst_task *task = cst_box_look(other);
        if (!task || !thief->permit(task, thread)) continue;
        cst_box_empty(other);
        return task;
    }
    return NULL;
}

/* A member that is about to sleep tries all members, since no announcement tells it of tasks that
 * are already there. */
static struct cst_task *steal(struct cst_thread *thread, cst_deque_permit *permit, bool progeny) {
    struct cst_seat *seat = thread->seat;
    struct thief thief = {.thread = thread, .permit = permit, .progeny = progeny};
    bool near = seat->partners > 0 && !cst_load_relaxed(&seat->dock.parked);
    if (cst_unlikely(thread->team->orphaned)) {
        struct cst_task *task = take_from_boxes(&thief);
        if (task) return task;
        near = false;
    }
    struct cst_task *task;
    do {
        thief.lost = false;
        task = near ? rob_near(&thief) : rob_anyone(&thief);
    } while (!task && thief.lost);
    return task;
}

/* --- any task, or progeny --------------------------------------------------------------- */

/* May the thread take a task of the region? A worker in its dock may look at the team while the
 * master begins another region. A member that takes a task must first close its box, so that it is
 * not given a second task. */
static bool is_in_region(const struct cst_task *task, const void *argument) {
    (void)task;
    const struct cst_thread *thread = argument;
    return cst_load_relaxed(&thread->team->tasking) == thread->seat->region &&
           cst_box_close(thread->seat);
}

struct cst_task *cst_steal_any(struct cst_thread *thread) {
    struct cst_seat *seat = thread->seat;
    struct cst_task *task = cst_box_take(seat);
    if (cst_unlikely(task != NULL)) return task;
    task = cst_queue_take(thread->team, is_in_region, thread);
    if (!task) task = cst_deque_take(&seat->deque, INT64_MIN);
    if (!task) task = steal(thread, is_in_region, false);
    return task ? task : cst_box_take(seat);
}

/* Is `task` a descendant of the thread's current task? See cst_deque_permit: the answer may be
 * about a task that has been taken and freed meanwhile, and is then not used. The task's block may
 * hold another task by now, so the parents are acquired; this pairs with the release in make.c,
 * init. Depths are relaxed: they come with the pointer to their task, or belong to a later task in
 * the block. */
static bool is_progeny(const struct cst_task *task, const void *argument) {
    const struct cst_thread *thread = argument;
    struct cst_task *current = thread->task;
    struct cst_task *candidate = (struct cst_task *)task;
    uint32_t depth = cst_load_relaxed(&current->depth), at = cst_load_relaxed(&candidate->depth);
    while (at > depth) {
        candidate = cst_load_acquire(&candidate->parent);
        if (!candidate || cst_load_relaxed(&candidate->depth) != --at) return false; /* stale */
    }
    return candidate == current;
}

struct cst_task *cst_steal_progeny(struct cst_thread *thread) {
    struct cst_task *task = cst_queue_take(thread->team, is_progeny, thread);
    if (!task) task = cst_deque_take(&thread->seat->deque, thread->task->floor);
    return task ? task : steal(thread, is_progeny, true);
}
