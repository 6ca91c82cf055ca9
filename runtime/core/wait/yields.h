/* The recent cost of a thread's yields.
 *
 * In a crowded team, a yield lets the next member run. Beside processes that compute on every
 * processor, a yield gives one of them a whole slice of some milliseconds, and a region needs
 * several yields. A woken sleeper, however, takes the processor from such a process at once. So a
 * thread with two long yields in a row, and little time between them, sleeps in their place for
 * a while. Then it tries one more yield, and sleeps for twice the time if that is long as well. If
 * a processor is free, the kernel moves a thread there after a slice or two, and its yields are
 * short again. Then they are several times as fast as sleep. */
#ifndef CST_CORE_WAIT_YIELDS_H
#define CST_CORE_WAIT_YIELDS_H

#include "core/state/watch.h"

/* A yield lasted from `begin` to `end`. True: sleep is better now. */
bool cst_yields_took(struct cst_yields *yields, uint64_t begin, uint64_t end);

/* Is sleep better than a yield now? */
bool cst_yields_cost(struct cst_yields *yields, uint64_t now);

#endif
