/* The first step of every entry point of this ABI. */
#ifndef CST_ABI_KMP_NOTE_H
#define CST_ABI_KMP_NOTE_H

#include "abi/kmp/facts.h"
#include "core/front.h"

/* Records the caller while a tool listens: the return address, and the compiler's description of
 * the place. Always inlined, so that the address lies in the entry point's caller. */
static inline __attribute__((always_inline)) void cst_kmp_note(const kmp_loc *loc) {
    if (cst_trace_is_on())
        cst_trace_called(CST_FRONT_KMP, __builtin_return_address(0), loc ? loc->source : NULL);
}

#endif
