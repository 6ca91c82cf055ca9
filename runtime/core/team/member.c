/* A member's part in a region's fork and join; see member.h, and README.md, "Fork and join". */
#include "core/team/member.h"

#include "core/task/quiesce.h"
#include "core/task/task.h"
#include "core/wait/wait.h"
#include "platform/happens.h"

enum { MOST_FAR = 1 << 16 };

uint8_t cst_member_partners(uint32_t size) {
    return (uint8_t)(size > MOST_FAR ? 16 : 32 - __builtin_clz(size - 1));
}

/* --- fork ------------------------------------------------------------------------------- */

static void start(struct cst_team *team, uint32_t number, uint32_t region,
                  const struct cst_order *order) {
    struct cst_seat *seat = cst_team_seat(team, number);
    cst_order_copy(&seat->dock.order, order);
    cst_happens_before(&seat->dock.go);
    /* Release: the order, and all writes of the master before the region. */
    cst_exchange_seq_cst(&seat->dock.go, region);
    cst_wake(seat);
}

/* In a crowded team the master starts all members. In a tree, a member that the scheduler runs
 * before its parent would wait for another turn on the processor.
 *
 * The last member is the first, because members run one after the other. In the order of their
 * numbers, each member would execute its deferred task before the next member makes one. A program
 * that checks whether target regions with nowait are asynchronous would then see all of them in
 * program order. */
void cst_member_fork(struct cst_team *team, uint32_t number, uint32_t region,
                     const struct cst_order *order) {
    if (order->crowded) {
        for (uint32_t i = number == 0 ? order->size : 0; i > 1; i--)
            start(team, i - 1, region, order);
        return;
    }
    uint32_t end = cst_tree_end(number, order->size);
    for (uint32_t i = cst_tree_first(number); i < end; i++) start(team, i, region, order);
}

/* --- join ------------------------------------------------------------------------------- */

void cst_member_await(struct cst_thread *thread, _Atomic uint32_t *word, uint32_t target) {
    if (cst_reached(word, target)) return;
    struct cst_wait wait = {
        .holds = cst_wait_word_holds, .help = cst_task_help, .word = word, .target = target};
    cst_wait(thread, &wait);
}

bool cst_member_await_children(struct cst_thread *thread, uint32_t size) {
    struct cst_team *team = thread->team;
    uint32_t region = thread->seat->region, end = cst_tree_end(thread->number, size);
    bool tasks = false;
    for (uint32_t i = cst_tree_first(thread->number); i < end; i++) {
        struct cst_seat *child = cst_team_seat(team, i);
        cst_member_await(thread, &child->arrived, 2 * region);
        tasks |= cst_load_relaxed(&child->arrived) & 1;
    }
    return tasks;
}
