/* The ordered construct; see ordered.h. The turn is the number of an iteration. A chunk has the
 * turn when it equals the chunk's first iteration. The chunk passes it on as its last iteration
 * plus one. */
#include "core/work/ordered.h"

#include "core/wait/wait.h"
#include "platform/happens.h"

static bool is_my_turn(const struct cst_wait *wait) {
    const struct cst_thread *thread = wait->object;
    return cst_load_seq_cst(&thread->share->turn) == thread->loop.first;
}

void cst_ordered_begin(struct cst_thread *thread) {
    struct cst_share *share = thread->share;
    if (!share || !share->ordered || thread->team->size == 1) return;
    struct cst_wait wait = {.holds = is_my_turn, .patient = true, .object = thread};
    /* The member polls before it counts itself: the count would take the turn's line from the
     * member that is about to pass the turn on. */
    if (!is_my_turn(&wait) && !cst_wait_briefly(thread, &wait)) {
        /* Comes before the test that precedes sleep (park.h, W2); pairs with the load in pass. */
        cst_add_seq_cst(&share->turn_waiters, 1);
        cst_wait(thread, &wait);
        cst_sub_relaxed(&share->turn_waiters, 1);
    }
    cst_happens_after(&share->turn);
}

void cst_ordered_pass(struct cst_thread *thread) {
    struct cst_team *team = thread->team;
    struct cst_share *share = thread->share;
    if (team->size == 1 || thread->loop.first == thread->loop.last) return;
    cst_ordered_begin(thread);
    cst_happens_before(&share->turn);
    /* Releases the writes of the chunk's ordered regions. The member with the next chunk is not
     * known, so all sleepers are woken. */
    cst_exchange_seq_cst(&share->turn, thread->loop.last);
    thread->loop.first = thread->loop.last;
    if (cst_load_seq_cst(&share->turn_waiters)) cst_team_wake(team);
}

void cst_ordered_end(struct cst_thread *thread) {
    struct cst_loop *loop = &thread->loop;
    if (!thread->share || !thread->share->ordered) return;
    /* An iteration has at most one ordered region, so this was the chunk's last one. */
    if (++loop->ordered_ends == loop->last - loop->first) cst_ordered_pass(thread);
}
