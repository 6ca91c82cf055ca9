/* Tasks handed to waiting members; see box.h. */
#include "core/wait/box.h"

/* The word of a box: CLOSED; OPEN, while its member waits in a region; or the address of a task.
 * The bits above an address name the partners to which the member hands parts of that task. */
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

/* The partners that the member may hand tasks to, without those that have stolen from its deque. */
static uint32_t free_partners(struct cst_seat *seat) {
    if (seat->has_heirs) seat->free &= cst_load_relaxed(&seat->deque.heirs);
    if (seat->free == 0) cst_box_begin(seat);
    return seat->free;
}

void cst_box_begin_with(struct cst_seat *seat, uint32_t partners) {
    seat->free = partners;
    seat->has_heirs = false;
}

void cst_box_begin(struct cst_seat *seat) {
    cst_box_begin_with(seat, all_partners(seat));
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
        /* Release: the task; pairs with the acquire in cst_box_close. */
        uint64_t word = left << ADDRESS_BITS | (uintptr_t)task;
        if (!cst_cas_release(&other->box, &open, word)) continue;
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
    cst_store_relaxed(&seat->box, OPEN(seat->region));
}

bool cst_box_close(struct cst_seat *seat) {
    if (seat->box_open) {
        seat->box_open = false;
        /* Acquires the task: pairs with the giver's compare-and-swap. */
        uint64_t word = cst_exchange_acquire(&seat->box, CLOSED);
        seat->given = task_in(word);
        if (seat->given) cst_box_begin_with(seat, (uint32_t)(word >> ADDRESS_BITS));
    }
    return seat->given == NULL;
}

struct cst_task *cst_box_take(struct cst_seat *seat) {
    /* Relaxed: cst_box_close acquires. Other members write only an open box. */
    if (seat->box_open && !(cst_load_relaxed(&seat->box) & 1)) cst_box_close(seat);
    struct cst_task *task = seat->given;
    seat->given = NULL;
    return task;
}

struct cst_task *cst_box_look(struct cst_seat *seat) {
    return task_in(cst_load_acquire(&seat->box));
}

void cst_box_empty(struct cst_seat *seat) {
    cst_store_relaxed(&seat->box, CLOSED);
}
