/* What Haskell code asks about the OpenMP thread that it runs on. */
#ifndef CST_HASKELL_PRIM_H
#define CST_HASKELL_PRIM_H

#include <stdint.h>

/* Bits of cst_prim_region's answer; src/Capstan/Prim.hs and cmm/prim.cmm take it apart. */
enum {
    CST_PRIM_SIZE_SHIFT = 32,    /* team size, 31 bits; below it the thread number, 32 bits */
    CST_PRIM_PARALLEL_SHIFT = 63 /* in an active region */
};

/* Visible: GHC inlines calls of these into programs, which then need them by name. */
#pragma GCC visibility push(default)
/* Where the calling thread is. A leaf: it may be called without giving the Capability away, and
 * does not make an unknown thread known. */
uint64_t cst_prim_region(void);
#pragma GCC visibility pop

#endif
