/* GCC's descriptions of task reductions, and of the memory that a worksharing construct asks for.
 *
 * A description is an array of words (facts.h, GOMP_REDUCTION_*). The descriptions of one construct
 * are chained. Each becomes a struct cst_reduction; a word of the description that is the runtime's
 * points to it. The compiler's code initialises and combines the copies by itself. */
#ifndef CST_ABI_GOMP_REDUCE_H
#define CST_ABI_GOMP_REDUCE_H

#include "core/front.h"

/* Makes a list from the chain of descriptions, for cst_reduce_register and similar functions. */
struct cst_reduction *cst_gomp_reductions(uintptr_t *description);
/* Called when the list has copies: writes their addresses into the descriptions. */
void cst_gomp_reductions_tell(uintptr_t *description);
/* Frees the list that was made from the descriptions, and its copies if `copies`. */
void cst_gomp_reductions_free(uintptr_t *description, bool copies);
/* The descriptions from which the list was made. */
uintptr_t *cst_gomp_reductions_of(struct cst_reduction *list);

/* `memory` is NULL or points to a size in bytes. The runtime replaces the size by the memory's
 * address. */
struct gomp_extras {
    struct cst_loop_extras core;
    uintptr_t *reductions;
    void **memory;
};

static inline struct gomp_extras cst_gomp_extras(uintptr_t *reductions, void **memory) {
    struct gomp_extras extras = {.reductions = reductions, .memory = memory};
    if (reductions) extras.core.reductions = cst_gomp_reductions(reductions);
    if (memory) {
        extras.core.wants_memory = true;
        extras.core.memory_bytes = (size_t)*memory;
    }
    return extras;
}

/* Called when the construct has begun: passes the addresses to the compiled code. */
static inline void cst_gomp_extras_tell(const struct gomp_extras *extras) {
    if (extras->reductions) cst_gomp_reductions_tell(extras->reductions);
    if (extras->memory) *extras->memory = extras->core.memory;
}

#endif
