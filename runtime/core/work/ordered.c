/* The ordered construct; see ordered.h. The turn is the number of an iteration: a chunk has it
 * when it equals the chunk's first iteration, and passes it on as its last plus one. */
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
    /* To count oneself would take the turn's line from the one who is about to pass it on. */
    if (!is_my_turn(&wait) && !cst_wait_briefly(thread, &wait)) {
        /* Before the look that precedes sleeping (wait.h, W2); pairs with the look in pass. */
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
    /* Releases what the chunk's ordered regions wrote. Whose chunk is next is not known. */
    cst_exchange_seq_cst(&share->turn, thread->loop.last);
    thread->loop.first = thread->loop.last;
    if (cst_load_seq_cst(&share->turn_waiters)) cst_team_wake(team);
}

void cst_ordered_end(struct cst_thread *thread) {
    struct cst_loop *loop = &thread->loop;
    if (!thread->share || !thread->share->ordered) return;
    /* At most one ordered region an iteration: after as many the chunk has no more. */
    if (++loop->ordered_ends == loop->last - loop->first) cst_ordered_pass(thread);
}
