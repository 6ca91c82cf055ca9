/* The answers to three questions in one word, as an unsafe foreign call or a Cmm primitive returns
 * without memory only what fits in a register. */
#include "haskell/prim.h"

#include "core/front.h"

uint64_t cst_prim_region(void) {
    return (uint64_t)cst_ask_number() | (uint64_t)cst_ask_size() << CST_PRIM_SIZE_SHIFT |
           (uint64_t)(cst_ask_active_level() > 0) << CST_PRIM_PARALLEL_SHIFT;
}
