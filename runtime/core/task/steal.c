/* See steal.h, and README.md, "Large teams". */
#include "core/task/steal.h"

#include "core/task/queue.h"
#include "core/state/task.h"
#include "core/state/team.h"

enum {
    ELSEWHERE_EVERY = 8, /* turns of looking near between two looks elsewhere */
    PATIENCE = 16,       /* times that it leaves a task to whom it is meant for */
};

/* --- boxes ------------------------------------------------------------------------------ */

/* What a box holds: nothing; that its member waits in a region; or a task, and above the bits of an
 * address which partners its member hands parts of that task to. */
#define CLOSED ((uint64_t)0)
#define OPEN(region) ((uint64_t)(region) << 32 | 1)

enum { ADDRESS_BITS = 48 };

static inline struct cst_task *task_in(uint64_t word) {
    uintptr_t address = word & 1 ? 0 : word & ((UINT64_C(1) << ADDRESS_BITS) - 1);
    return (struct cst_task *)address; /* NOLINT(performance-no-int-to-ptr) */
}

static inline uint32_t all_partners(const struct cst_seat *seat) {
    return (1u << seat->partners) - 1;
}

/* Partners that the member may hand tasks to, less those that have helped themselves. */
static uint32_t free_partners(struct cst_seat *seat) {
    if (seat->has_heirs) seat->free &= cst_load_relaxed(&seat->deque.heirs);
    if (seat->free == 0) cst_box_begin(seat);
    return seat->free;
}

static void begin_with(struct cst_seat *seat, uint32_t partners) {
    seat->free = partners;
    seat->has_heirs = false;
}

void cst_box_begin(struct cst_seat *seat) {
    begin_with(seat, all_partners(seat));
}

bool cst_box_hand(struct cst_thread *thread, struct cst_task *task) {
    struct cst_seat *seat = thread->seat;
    struct cst_team *team = thread->team;
    if (cst_unlikely(team->orphaned)) return false;
    for (uint32_t free = free_partners(seat); free != 0;) {
        uint32_t i = 31 - (uint32_t)__builtin_clz(free), to = seat->number + (1u << i);
        struct cst_seat *other = cst_team_seat(team, to < seat->size ? to : to - seat->size);
        uint64_t open = OPEN(seat->region);
        free &= ~(1u << i);
        if (cst_load_relaxed(&other->box) != open) continue;
        uint64_t left = seat->free & ~(1u << i);
        /* Release: the task; pairs with the acquire in cst_box_take. */
        uint64_t word = left << ADDRESS_BITS | (uintptr_t)task;
        if (!cst_cas_acq_rel(&other->box, &open, word)) continue;
        seat->free = (uint32_t)left;
        return true;
    }
    seat->has_heirs = true;
    cst_store_relaxed(&seat->deque.heirs, seat->free);
    return false;
}

void cst_box_open(struct cst_seat *seat) {
    if (seat->box_open) return;
    seat->box_open = true;
    cst_store_release(&seat->box, OPEN(seat->region));
}

bool cst_box_close(struct cst_seat *seat) {
    if (seat->box_open) {
        seat->box_open = false;
        uint64_t word = cst_exchange_acq_rel(&seat->box, CLOSED);
        seat->given = task_in(word);
        if (seat->given) begin_with(seat, (uint32_t)(word >> ADDRESS_BITS));
    }
    return seat->given == NULL;
}

struct cst_task *cst_box_take(struct cst_seat *seat) {
    /* Acquire pairs with the giver's compare-and-swap. Only an open box is written by others. */
    if (seat->box_open && !(cst_load_acquire(&seat->box) & 1)) cst_box_close(seat);
    struct cst_task *task = seat->given;
    seat->given = NULL;
    return task;
}

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

/* Everybody, from the one where it found something last. */
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

/* May the thief take what is there? It leaves it for a while to those that it is meant for. */
static bool is_for(struct thief *thief, struct cst_deque *deque, uint32_t self) {
    uint32_t heirs = cst_load_relaxed(&deque->heirs);
    return thief->progeny || (heirs & self) != 0 || heirs == 0 ||
           ++thief->thread->seat->restraint >= PATIENCE;
}

/* Robs the member at partner i's distance: that hands tasks to this one, or was handed tasks by it.
 */
static struct cst_task *rob_partner(struct thief *thief, uint32_t i) {
    struct cst_seat *seat = thief->thread->seat;
    uint32_t distance = 1u << i;
    uint32_t victim = seat->number + (thief->progeny ? distance : seat->size - distance);
    if (victim >= seat->size) victim -= seat->size;
    struct cst_deque *deque = deque_of(thief, victim);
    if (cst_deque_is_empty(deque) || !is_for(thief, deque, distance)) return NULL;
    struct cst_task *task = rob(thief, victim);
    if (task && !thief->progeny)
        begin_with(seat, cst_and_acq_rel(&deque->heirs, ~distance) & ~distance);
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

/* In the child of a fork: a member that is gone has not begun what is in its box. */
static struct cst_task *take_from_boxes(struct thief *thief) {
    struct cst_thread *thread = thief->thread;
    for (uint32_t i = 0; i < thread->seat->size; i++) {
        struct cst_seat *other = cst_team_seat(thread->team, i);
        struct cst_task *task = task_in(cst_load_acquire(&other->box));
        if (!task || !thief->permit(task, thread)) continue;
        cst_store_relaxed(&other->box, CLOSED);
        return task;
    }
    return NULL;
}

/* Who is about to sleep looks at everybody, since nobody tells it of the tasks that are there. */
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

/* A worker in its dock may look at the team while its master begins another region. And who takes a
 * task must not be given another one. */
static bool is_in_region(const struct cst_task *task, const void *argument) {
    (void)task;
    const struct cst_thread *thread = argument;
    return cst_load_acquire(&thread->team->tasking) == thread->seat->region &&
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

/* Is `task` progeny of the thread's current one? See cst_deque_permit: the answer may be
 * about a task that has been taken and freed meanwhile, and is then not used. Its block may be
 * another task by now, so the parents are acquired; pairs with the release in task.c, init. Depths
 * are relaxed: they come with the pointer to their task, or are those of a later task there. */
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
