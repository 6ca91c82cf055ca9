/* Worksharing constructs of a region, found by their position in the program (state/share.h). */
#ifndef CST_CORE_WORK_SHARE_H
#define CST_CORE_WORK_SHARE_H

#include "core/state/thread.h"

/* The calling member meets its next construct. True: it is the first, must set the slot up and
 * then call cst_share_publish. False: another was first; cst_share_await before reading. That is
 * false in the child of a fork, if who was first is not there: then the caller is. */
bool cst_share_enter(struct cst_thread *thread, struct cst_share **share);
void cst_share_publish(struct cst_thread *thread, struct cst_share *share);
bool cst_share_await(struct cst_thread *thread, struct cst_share *share);

/* The calling member meets a `single` construct, which needs no slot. True: it executes it. */
bool cst_share_single(struct cst_thread *thread);

/* The first member: makes a room of its slot at least `size` bytes, in whole lines, all zero. What
 * is large goes from slot to slot, so that the ring does not keep as many as it has slots. */
void cst_share_clear(struct cst_thread *thread, struct cst_room *room, size_t size);

/* The same for `single` with copyprivate. True: the member executes it, and then gives the address
 * of its data with cst_share_copy. False: the others wait for that, and get the address in *data;
 * it is good until the barrier that the construct ends with. */
bool cst_share_single_copy(struct cst_thread *thread, void **data);
void cst_share_copy(struct cst_thread *thread, void *data);

/* For a compiler that has copyprivate as a construct of its own: every member calls, and gets what
 * the one gave that had something to give (`mine`). It is good until the next barrier. */
void *cst_share_hand_out(struct cst_thread *thread, bool mine, void *data);

/* The member has left the construct without a barrier. */
void cst_share_leave(struct cst_thread *thread);

#endif
