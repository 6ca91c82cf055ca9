/* A name that programs of clang use as well. They link it with the symbol version VERSION, so it
 * may have another meaning there than in programs of GCC. Only the shared library has versions;
 * elsewhere one function serves all programs.
 *
 * The second name needs an address of its own, as otherwise the linker drops the first name. So it
 * is a jump to a name that no other library can define. */
#ifndef CST_ABI_OMP_BOTH_H
#define CST_ABI_OMP_BOTH_H

#include "numbers.h"

#ifdef CST_SHARED_LIBRARY
#define CST_FOR_CLANG(name, function)                                                              \
    __asm__(".text\n\t.p2align 3\n\t.globl kmp_" #name "\n\t.type kmp_" #name ", %function\n"      \
            "\t.set .Llocal_" #name ", " #function "\n"                                            \
            "kmp_" #name ":\n\t.cfi_startproc\n\t" CST_LANDING "\n\t" CST_JUMP " .Llocal_" #name   \
            "\n\t.cfi_endproc\n\t.size kmp_" #name ", . - kmp_" #name "\n"                         \
            "\t.symver kmp_" #name ", " #name "@VERSION, remove")
#else
#define CST_FOR_CLANG(name, function) _Static_assert(1, "")
#endif

/* One function for programs of both compilers. */
#define CST_FOR_BOTH(name) CST_FOR_CLANG(name, name)

#endif
