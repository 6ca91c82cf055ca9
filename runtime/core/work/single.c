/* single with copyprivate: one member executes it, and the others get the address of its data. */
#include "core/work/share.h"

#include "core/work/barrier.h"

bool cst_share_single_copy(struct cst_thread *thread, void **data) {
    struct cst_share *share;
    if (cst_share_enter(thread, &share)) return true;
    cst_barrier(thread);
    /* The load comes after the barrier in cst_share_copy. The construct's own barrier follows, so
     * no thread reuses the slot before all members have read it. */
    *data = share->copy;
    cst_share_leave(cst_self());
    return false;
}

void cst_share_copy(struct cst_thread *thread, void *data) {
    thread->share->copy = data;
    cst_share_leave(thread);
    cst_barrier(thread);
}

void *cst_share_hand_out(struct cst_thread *thread, bool mine, void *data) {
    struct cst_share *share;
    cst_share_enter(thread, &share);
    if (mine) share->copy = data;
    cst_barrier(thread);
    thread = cst_self();
    data = share->copy;
    cst_share_leave(thread);
    return data;
}
