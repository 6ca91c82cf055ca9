/* Questions of Haskell code about the OpenMP thread on which it runs. */
#ifndef CST_HASKELL_PRIM_H
#define CST_HASKELL_PRIM_H

#include <stdint.h>

/* Bits of cst_prim_region's answer; src/Capstan/Prim.hs and cmm/prim.cmm decode it. */
enum {
    CST_PRIM_SIZE_SHIFT = 32,    /* team size, 31 bits, above the thread number, 32 bits */
    CST_PRIM_PARALLEL_SHIFT = 63 /* in an active region */
};

/* Visible: GHC inlines calls of this function into programs, which then need the name. */
#pragma GCC visibility push(default)
/* The calling thread's place in its team. A leaf function: an unsafe call of it is harmless, and it
 * makes no record for an unknown thread. */
uint64_t cst_prim_region(void);
#pragma GCC visibility pop

#endif
