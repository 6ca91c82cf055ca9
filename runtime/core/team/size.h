/* How many threads a region is to have: the clause, else the control variable, within the limits.
 * What it gets may be less, if threads cannot be made (pool.c). */
#ifndef CST_CORE_TEAM_SIZE_H
#define CST_CORE_TEAM_SIZE_H

#include "core/team/region.h"

/* OpenMP 5.2, section 10.1.1: the number of threads of a region. Those granted under a limit are in
 * *limited. */
uint32_t cst_size_choose(struct cst_thread *thread, const struct cst_region *region,
                         uint32_t *limited);

/* Does the runtime choose the size, so that it may be smaller where processors are busy? */
bool cst_size_may_shrink(const struct cst_thread *thread, const struct cst_region *region);

#endif
