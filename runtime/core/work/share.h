/* Worksharing constructs of a region, found by their position in the program (state/share.h). */
#ifndef CST_CORE_WORK_SHARE_H
#define CST_CORE_WORK_SHARE_H

#include "core/state/thread.h"

/* The calling member meets its next construct. True: it is the first member, and must set up the
 * slot, then call cst_share_publish. False: another member was first, and the caller must call
 * cst_share_await before it reads the slot. cst_share_await returns false in the child of a fork if
 * the first member is gone; then the caller takes its place. */
bool cst_share_enter(struct cst_thread *thread, struct cst_share **share);
void cst_share_publish(struct cst_thread *thread, struct cst_share *share);
bool cst_share_await(struct cst_thread *thread, struct cst_share *share);

/* The calling member meets a `single` construct, which needs no slot. True: the caller executes
 * it. */
bool cst_share_single(struct cst_thread *thread);

/* Called by the first member: gives a room of its slot at least `size` zero bytes, in whole lines.
 * A large room moves from slot to slot, so that the ring does not keep one for each slot. */
void cst_share_clear(struct cst_thread *thread, struct cst_room *room, size_t size);

/* As cst_share_single, for copyprivate. True: the member executes the construct, and then passes
 * the address of its data to cst_share_copy. False: the member waits for that call, and gets the
 * address in *data. The address is valid until the barrier at the construct's end. */
bool cst_share_single_copy(struct cst_thread *thread, void **data);
void cst_share_copy(struct cst_thread *thread, void *data);

/* For a compiler that has copyprivate as a construct of its own. Every member calls. All get the
 * `data` of the member with `mine`, which is valid until the next barrier. */
void *cst_share_hand_out(struct cst_thread *thread, bool mine, void *data);

/* The calling member leaves the construct, without a barrier. */
void cst_share_leave(struct cst_thread *thread);

#endif
