/* The answer to three questions in one word: a register is all that an unsafe foreign call and a
 * Cmm primitive can bring home without touching memory. */
#include "haskell/prim.h"

#include "core/front.h"

uint64_t cst_prim_region(void) {
    return (uint64_t)cst_ask_number() | (uint64_t)cst_ask_size() << CST_PRIM_SIZE_SHIFT |
           (uint64_t)(cst_ask_active_level() > 0) << CST_PRIM_PARALLEL_SHIFT;
}
