/* The number of threads of a region: by the clause, or else by the control variable, within the
 * limits. The region gets fewer if threads cannot be made (pool.c). */
#ifndef CST_CORE_TEAM_SIZE_H
#define CST_CORE_TEAM_SIZE_H

#include "core/team/region.h"

/* OpenMP 5.2, section 10.1.1: the number of threads of a region. *limited is the number of threads
 * that are counted under thread-limit-var. */
uint32_t cst_size_choose(struct cst_thread *thread, const struct cst_region *region,
                         uint32_t *limited);

/* May the runtime choose a smaller size because processors are busy? */
bool cst_size_may_shrink(const struct cst_thread *thread, const struct cst_region *region);

#endif
