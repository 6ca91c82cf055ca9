/* A member's box, into which another member puts a task while this one waits (large teams).
 *
 * The box is open while its member waits in a region and has found no task. One compare-and-swap
 * fills it. The member closes it before it sleeps or does other work, so each task that is put in
 * is taken once. A thread that makes a task hands it to one of its partners, the members whose
 * numbers are a power of two above its own. */
#ifndef CST_CORE_WAIT_BOX_H
#define CST_CORE_WAIT_BOX_H

#include "core/state/thread.h"

/* The member begins new work, of which all partners may get parts. */
void cst_box_begin(struct cst_seat *seat);

/* Gives a new task of the thread's team to a waiting partner. False: no partner waits. */
bool cst_box_hand(struct cst_thread *thread, struct cst_task *task);

/* Opens the box: the member waits and has found no task. */
void cst_box_open(struct cst_seat *seat);

/* Closes the box, before the member stops waiting. False: it has been given a task, which the next
 * cst_box_take returns. */
bool cst_box_close(struct cst_seat *seat);

/* The task that the member has been given, or NULL. */
struct cst_task *cst_box_take(struct cst_seat *seat);

/* The member hands parts of its next work to these partners; bit i is the partner 2^i above it. */
void cst_box_begin_with(struct cst_seat *seat, uint32_t partners);

/* In the child of a fork: the task in the box of a member that is gone, or NULL; cst_box_empty then
 * removes it. */
struct cst_task *cst_box_look(struct cst_seat *seat);
void cst_box_empty(struct cst_seat *seat);

#endif
