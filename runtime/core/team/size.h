/* The number of threads of a region: by the clause, or else by the control variable, within the
 * limits. The region gets fewer if threads cannot be made (pool.c). */
#ifndef CST_CORE_TEAM_SIZE_H
#define CST_CORE_TEAM_SIZE_H

#include "core/team/pool.h"
#include "core/team/region.h"

/* OpenMP 5.2, section 10.1.1: the number of threads of a region. *limited is the number of threads
 * that are counted under thread-limit-var. */
uint32_t cst_size_choose(struct cst_thread *thread, const struct cst_region *region,
                         uint32_t *limited);

/* May the runtime choose a smaller size? */
enum cst_shrink cst_size_shrinks_now(const struct cst_thread *thread,
                                     const struct cst_region *region);
static inline enum cst_shrink cst_size_shrinks(const struct cst_thread *thread,
                                               const struct cst_region *region) {
    if (cst_likely(thread->task->icv.dynamic != CST_DYNAMIC_ON)) return CST_SHRINK_NEVER;
    return cst_size_shrinks_now(thread, region);
}

/* The answer of omp_get_max_threads outside a region, in a process that shares. The answer is a
 * promise until the thread asks again: the thread's regions get this number, or the number of their
 * num_threads clauses if that is not larger. OpenBLAS divides its work by the answer, and its
 * threads wait for each other. If a region is `about` to follow, the answer is the number of
 * processors that are left. Takes no lock. */
uint32_t cst_size_promise(struct cst_thread *thread, bool about);

#endif
