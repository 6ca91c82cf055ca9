/* A member's box: into it another member puts a task while this one waits (large teams).
 *
 * It is open while its member waits in a region and has found nothing to do. One compare-and-swap
 * fills it, and the member closes it before it sleeps or does something else, so each task that is
 * put in is taken once. A thread that makes a task hands it to one of its partners, the members
 * whose numbers are a power of two above its own. */
#ifndef CST_CORE_WAIT_BOX_H
#define CST_CORE_WAIT_BOX_H

#include "core/state/thread.h"

/* What the member does next has nothing to do with what it did before. */
void cst_box_begin(struct cst_seat *seat);

/* Gives a new task of the thread's team to a member that waits. False: none near does. */
bool cst_box_hand(struct cst_thread *thread, struct cst_task *task);

/* The member waits and has found nothing to do. */
void cst_box_open(struct cst_seat *seat);

/* The member is about to do something else than wait. False: it has been given a task, which the
 * next cst_box_take returns. */
bool cst_box_close(struct cst_seat *seat);

/* The task that the member has been given, or NULL. */
struct cst_task *cst_box_take(struct cst_seat *seat);

/* The member hands parts of what it does next to these partners; bit i is the one 2^i above. */
void cst_box_begin_with(struct cst_seat *seat, uint32_t partners);

/* In the child of a fork: the task in the box of a member that is gone, or NULL; and empties it. */
struct cst_task *cst_box_look(struct cst_seat *seat);
void cst_box_empty(struct cst_seat *seat);

#endif
