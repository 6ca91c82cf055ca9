/* The answer to three questions in one word: a register is all that an unsafe foreign call and a
 * Cmm primitive can bring home without touching memory. */
#include "haskell/prim.h"

#include "core/state/thread.h"

uint64_t cst_prim_region(void) {
    const struct cst_thread *self = cst_current_thread;
    if (self == NULL) return (uint64_t)1 << CST_PRIM_SIZE_SHIFT;
    const struct cst_team *team = self->team;
    return (uint64_t)self->number | (uint64_t)team->size << CST_PRIM_SIZE_SHIFT |
           (uint64_t)(team->active_level > 0) << CST_PRIM_PARALLEL_SHIFT;
}
