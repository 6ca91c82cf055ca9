/* What a thread's yields have cost it lately.
 *
 * In a crowded team a yield lets the next member run. Beside processes that compute on every
 * processor it gives one of them a whole slice instead, of some milliseconds, and a region needs
 * several; a sleeper that is woken takes the processor from such a process at once. So a thread
 * whose yields are long one after another, with next to nothing in between, is to sleep in their
 * place for a while, then try one more, and sleep for twice as long if that is long as well. Where
 * some processor is free the kernel moves a thread there after a slice or two, and its yields are
 * short again: then they are several times as fast as sleep. */
#ifndef CST_CORE_WAIT_YIELDS_H
#define CST_CORE_WAIT_YIELDS_H

#include "core/state/watch.h"

/* A yield took from one time to another. True: to sleep is better now. */
bool cst_yields_took(struct cst_yields *yields, uint64_t begin, uint64_t end);

/* Is to sleep better now? */
bool cst_yields_cost(struct cst_yields *yields, uint64_t now);

#endif
