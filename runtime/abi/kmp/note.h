/* What every entry point of this ABI does first. */
#ifndef CST_ABI_KMP_NOTE_H
#define CST_ABI_KMP_NOTE_H

#include "abi/kmp/facts.h"
#include "core/front.h"

/* Notes the caller while somebody listens: where the call returns to, and the compiler's words for
 * it. Always inlined, so that the address is that of the entry point's caller. */
static inline __attribute__((always_inline)) void cst_kmp_note(const kmp_loc *loc) {
    if (cst_trace_is_on())
        cst_trace_called(CST_FRONT_KMP, __builtin_return_address(0), loc ? loc->source : NULL);
}

#endif
