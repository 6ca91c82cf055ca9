/* GCC's descriptions of task reductions, and what else a worksharing construct may bring along.
 *
 * A description is an array of words (facts.h, GOMP_REDUCTION_*); several of one construct are
 * chained. Each becomes a struct cst_reduction, which one of the words left to the runtime leads
 * to. The compiler's code initialises and combines the copies by itself. */
#ifndef CST_ABI_GOMP_REDUCE_H
#define CST_ABI_GOMP_REDUCE_H

#include "core/front.h"

/* The chain of descriptions as a list, for cst_reduce_register and its like. */
struct cst_reduction *cst_gomp_reductions(uintptr_t *description);
/* When the list has copies: writes their addresses into the descriptions. */
void cst_gomp_reductions_tell(uintptr_t *description);
/* Frees the list that was made of the descriptions, and its copies if wanted. */
void cst_gomp_reductions_free(uintptr_t *description, bool copies);
/* The descriptions of which a list was made. */
uintptr_t *cst_gomp_reductions_of(struct cst_reduction *list);

/* `memory` is NULL or points to a size in bytes; the address of memory is to be written there. */
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

/* When the construct has begun. */
static inline void cst_gomp_extras_tell(const struct gomp_extras *extras) {
    if (extras->reductions) cst_gomp_reductions_tell(extras->reductions);
    if (extras->memory) *extras->memory = extras->core.memory;
}

#endif
