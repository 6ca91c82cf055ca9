/* Task reductions: task_reduction, in_reduction, and reduction(task, ...).
 *
 * The compiler describes them by arrays (facts.h, GOMP_REDUCTION_*), chained from inner to outer
 * groups. The runtime gives each member a private copy of each variable and finds it again from the
 * address of the original, or of another member's copy. */
#ifndef CST_CORE_WORK_REDUCE_H
#define CST_CORE_WORK_REDUCE_H

#include "core/task/group.h"
#include "core/state/thread.h"

/* Words of a description. */
enum {
    CST_REDUCE_COUNT,     /* variables */
    CST_REDUCE_SIZE,      /* bytes for each member */
    CST_REDUCE_MEMORY,    /* in: alignment; out: the copies */
    CST_REDUCE_ALLOCATOR, /* the compiler's */
    CST_REDUCE_NEXT,      /* next description of this registration, then the outer ones */
    CST_REDUCE_HEAD,      /* ours: nonzero in the first description of a registration */
    CST_REDUCE_END,       /* ours: end of the copies */
    CST_REDUCE_FIRST,     /* variables: address, offset in a member's copy, ours */
    CST_REDUCE_STRIDE = 3
};

/* Gives `data` memory for `members` and chains it before `outer` (NULL: none). */
void cst_reduce_allocate(uintptr_t *data, uintptr_t *outer, uint32_t members);

/* Registers `data` with the current group; `first`: the description of the member that met the
 * construct first, whose memory is shared (NULL: this member is the first). */
void cst_reduce_register(struct cst_thread *thread, uintptr_t *data, uintptr_t *first);

/* Frees the copies. */
void cst_reduce_free(uintptr_t *data);

/* Opens the group of a worksharing construct with task reductions... */
void cst_reduce_begin_construct(struct cst_thread *thread);
/* ... and closes it; a barrier follows unless the region was cancelled. */
void cst_reduce_end_construct(struct cst_thread *thread, bool cancelled);

/* Replaces each of `count` addresses by that of this member's copy. The first `originals` of them
 * also tell the original's address, behind the others. */
void cst_reduce_remap(struct cst_thread *thread, size_t count, size_t originals, void **address);

#endif
