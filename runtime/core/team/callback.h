/* Facts about the current region that a callback into Haskell needs. */
#ifndef CST_CORE_TEAM_CALLBACK_H
#define CST_CORE_TEAM_CALLBACK_H

#include "core/team/region.h"

/* The coroutine that evaluates the thread's callbacks; NULL: none now. */
static inline struct cst_coroutine **cst_coroutine_of(struct cst_thread *thread) {
    return &thread->coroutine;
}

/* The region that the thread is in, as the owner of a coroutine. */
static inline void *cst_coroutine_owner(struct cst_thread *thread) {
    return thread->team;
}

/* Is the thread's region executed while a Capability is held? */
static inline bool cst_region_is_unsafe(struct cst_thread *thread) {
    return thread->team->unsafe;
}

/* Will the runtime end a coroutine that begins now? It does so at the end of the region in which
 * the C code runs. It does not outside of regions, nor for a task that a worker executes after its
 * arrival at the region's end. */
static inline bool cst_coroutine_will_end(struct cst_thread *thread) {
    return thread->team != thread->initial && !thread->seat->at_end;
}

#endif
