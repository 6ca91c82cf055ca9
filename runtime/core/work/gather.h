/* Reductions of a team by a tree. Each member's data is combined into its parent's. So the
 * reduction takes about log n steps, and not one step for each member as under a lock. */
#ifndef CST_CORE_WORK_GATHER_H
#define CST_CORE_WORK_GATHER_H

#include "core/state/thread.h"

/* Would a tree be faster than a lock for the current team? In a crowded team it is not, as each
 * step is a switch to another thread. All members get the same answer. */
bool cst_gather_wanted(const struct cst_thread *thread);

/* Every member calls, with its data and the same function, which combines `from` into `to`. True
 * for member 0: its data then includes that of all members. The data of the other members is free
 * again. May block. In a cancelled region some data may be missing. */
bool cst_gather(struct cst_thread *thread, void *data, void (*combine)(void *to, void *from));

#endif
