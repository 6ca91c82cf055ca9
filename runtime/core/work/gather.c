/* Reductions of a team by a tree; see gather.h. The tree is that of fork and join.
 *
 * A member combines its children's data into its own, and offers them to its parent. Then it waits
 * until its parent has read them, as they lie on its stack. The region's number and the count of
 * reductions in the region name a reduction, so its words need no reset. */
#include "core/work/gather.h"

#include "core/task/cancel.h"
#include "core/wait/wait.h"
#include "platform/happens.h"

enum { FEW_MEMBERS = 4 };

bool cst_gather_wanted(const struct cst_thread *thread) {
    return thread->seat->size > FEW_MEMBERS && !thread->seat->crowded;
}

struct step {
    struct cst_thread *thread;
    _Atomic uint64_t *word;
    uint64_t name;
};

/* Sequentially consistent: the load that precedes a sleep (park.h, W2). Its acquire pairs with the
 * exchange in `tell`. */
static bool is_told(const struct cst_wait *wait) {
    const struct step *step = wait->object;
    return cst_load_seq_cst(step->word) == step->name || cst_region_is_cancelled(step->thread);
}

static bool await(struct cst_thread *thread, _Atomic uint64_t *word, uint64_t name) {
    struct step step = {.thread = thread, .word = word, .name = name};
    struct cst_wait wait = {.holds = is_told, .object = &step};
    if (!is_told(&wait)) cst_wait(thread, &wait);
    cst_happens_after(word);
    return cst_load_acquire(word) == name;
}

/* K1, then K2 (park.h). */
static void tell(struct cst_seat *seat, _Atomic uint64_t *word, uint64_t name) {
    cst_happens_before(word);
    cst_exchange_seq_cst(word, name);
    cst_wake(seat);
}

bool cst_gather(struct cst_thread *thread, void *data, void (*combine)(void *to, void *from)) {
    struct cst_seat *seat = thread->seat;
    struct cst_team *team = seat->team;
    uint32_t end = cst_tree_end(seat->number, seat->size);
    uint64_t name = (uint64_t)seat->region << 32 | ++seat->gathers;
    for (uint32_t child = cst_tree_first(seat->number); child < end; child++) {
        struct cst_seat *other = cst_team_seat(team, child);
        if (!await(thread, &other->offers, name)) continue;
        combine(data, other->offered);
        tell(other, &other->taken, name);
    }
    if (seat->number == 0) return true;
    seat->offered = data;
    tell(cst_team_seat(team, cst_tree_parent(seat->number)), &seat->offers, name);
    await(thread, &seat->taken, name);
    return false;
}
