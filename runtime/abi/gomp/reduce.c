/* Task reductions: GCC's calls, decoded; see reduce.h. */
#include "abi/gomp/reduce.h"

#include "abi/gomp/facts.h"
#include "abi/omp/both.h"
#include "abi/whole.h"

#include <stdlib.h>

CST_WHOLE(gomp_reduce);

struct reduction {
    struct cst_reduction core; /* first, so that one is the other */
    uintptr_t *description;
};

static uintptr_t *next_of(const uintptr_t *description) {
    return (uintptr_t *)description[GOMP_REDUCTION_NEXT];
}

struct cst_reduction *cst_gomp_reductions(uintptr_t *description) {
    struct cst_reduction *list = NULL, **link = &list;
    for (uintptr_t *each = description; each; each = next_of(each)) {
        struct reduction *reduction = calloc(1, sizeof *reduction);
        if (!reduction) cst_memory_exhausted("a task reduction", sizeof *reduction);
        reduction->core.bytes = each[GOMP_REDUCTION_SIZE];
        reduction->core.alignment = each[GOMP_REDUCTION_MEMORY];
        reduction->description = each;
        each[GOMP_REDUCTION_OURS] = (uintptr_t)reduction;
        *link = &reduction->core;
        link = &reduction->core.outer;
    }
    return list;
}

static struct reduction *made_of(const uintptr_t *description) {
    return (struct reduction *)description[GOMP_REDUCTION_OURS];
}

void cst_gomp_reductions_tell(uintptr_t *description) {
    for (uintptr_t *each = description; each; each = next_of(each))
        each[GOMP_REDUCTION_MEMORY] = (uintptr_t)made_of(each)->core.copies;
}

void cst_gomp_reductions_free(uintptr_t *description, bool copies) {
    for (uintptr_t *each = description; each; each = next_of(each)) {
        struct reduction *reduction = made_of(each);
        if (copies) cst_reduce_free(&reduction->core);
        free(reduction);
    }
}

uintptr_t *cst_gomp_reductions_of(struct cst_reduction *list) {
    return ((struct reduction *)list)->description;
}

/* --- the calls ------------------------------------------------------------------------------- */

void GOMP_taskgroup_reduction_register(uintptr_t *description) {
    cst_reduce_register(cst_self(), cst_gomp_reductions(description));
    cst_gomp_reductions_tell(description);
}

void GOMP_taskgroup_reduction_unregister(uintptr_t *description) {
    cst_gomp_reductions_free(description, true);
}

void GOMP_scope_start(uintptr_t *description) {
    cst_reduce_begin_scope(cst_self(), cst_gomp_reductions(description));
    cst_gomp_reductions_tell(description);
}

void GOMP_workshare_task_reduction_unregister(bool cancelled) {
    struct cst_reduction *list = cst_reduce_end_construct(cst_self());
    cst_gomp_reductions_free(cst_gomp_reductions_of(list), cst_ask_number() == 0);
    if (!cancelled) cst_barrier(cst_self());
}

/* --- copies ---------------------------------------------------------------------------------- */

static const uintptr_t *variable_at(const uintptr_t *description, size_t i) {
    return description + GOMP_REDUCTION_FIRST + i * GOMP_REDUCTION_STRIDE;
}

/* Is this the address of an original variable? If so, stores the offset of its copy in *offset. */
static bool describes(const uintptr_t *description, uintptr_t address, size_t *offset) {
    for (size_t i = 0; i < description[GOMP_REDUCTION_COUNT]; i++) {
        const uintptr_t *variable = variable_at(description, i);
        if (variable[0] != address) continue;
        *offset = variable[1];
        return true;
    }
    return false;
}

/* Finds the reduction that has the address, as an original or within a copy. Stores the offset in a
 * member's copy in *offset. */
static struct reduction *find(struct cst_reduction *list, uintptr_t address, size_t *offset) {
    for (struct cst_reduction *each = list; each; each = each->outer)
        if (describes(cst_gomp_reductions_of(each), address, offset))
            return (struct reduction *)each;
    for (struct cst_reduction *each = list; each; each = each->outer)
        if (cst_reduce_holds(each, (const void *)address, offset)) return (struct reduction *)each;
    return NULL;
}

static _Noreturn void not_found(uintptr_t address) {
    cst_message_openmp_fatal("couldn't find matching task_reduction or reduction with task "
                             "modifier for %p",
                             (void *)address);
}

static uintptr_t original_at(const uintptr_t *description, size_t offset, uintptr_t address) {
    for (size_t i = 0; i < description[GOMP_REDUCTION_COUNT]; i++) {
        const uintptr_t *variable = variable_at(description, i);
        if (variable[1] == offset) return variable[0];
    }
    not_found(address);
}

/* Replaces each of `count` addresses by the address of this member's copy. For the first
 * `originals` of them, stores the original's address as well, behind all of them. */
void GOMP_task_reduction_remap(size_t count, size_t originals, void **addresses) {
    struct cst_thread *thread = cst_self();
    struct cst_reduction *list = cst_reduce_list(thread);
    for (size_t i = 0; i < count; i++) {
        uintptr_t address = (uintptr_t)addresses[i];
        size_t offset;
        struct reduction *found = find(list, address, &offset);
        if (!found) not_found(address);
        if (i < originals)
            addresses[count + i] = (void *)original_at(found->description, offset, address);
        addresses[i] = (char *)cst_reduce_copy(thread, &found->core) + offset;
    }
}

/* --- objects of GCC that clang links --------------------------------------------------------- */

CST_FOR_BOTH(GOMP_task_reduction_remap);
CST_FOR_BOTH(GOMP_taskgroup_reduction_register);
CST_FOR_BOTH(GOMP_taskgroup_reduction_unregister);
CST_FOR_BOTH(GOMP_workshare_task_reduction_unregister);
