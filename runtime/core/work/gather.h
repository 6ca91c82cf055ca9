/* Reductions of a team by a tree: each member's data is combined into its parent's, so that the
 * data passes on in about log n steps, not one member after the other as under a lock. */
#ifndef CST_CORE_WORK_GATHER_H
#define CST_CORE_WORK_GATHER_H

#include "core/state/thread.h"

/* Would a tree be faster than a lock for the current team? In a crowded one each step is a switch
 * to another thread. All members get the same answer. */
bool cst_gather_wanted(const struct cst_thread *thread);

/* Every member calls, with its data and the same function, which combines the second into the
 * first. True for member 0, whose data are then those of all; the others' are free again. May
 * block. In a cancelled region some data may be missing. */
bool cst_gather(struct cst_thread *thread, void *data, void (*combine)(void *to, void *from));

#endif
