/* Checks of the runtime's invariants, in levels.
 *
 * CST_CHECK_LEVEL 0 compiles them out (release), 1 keeps the cheap ones, 2 adds validators that
 * walk a structure (tests and sanitizer builds). A failed check names its place and aborts. */
#ifndef CST_PLATFORM_CHECK_H
#define CST_PLATFORM_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#ifndef CST_CHECK_LEVEL
#define CST_CHECK_LEVEL 0
#endif

#define CST_CHECK_FAIL(text)                                                                       \
    (fprintf(stderr, "capstan: internal check failed: %s (%s:%d)\n", (text), __FILE__, __LINE__),  \
     abort())

#if CST_CHECK_LEVEL >= 1
#define cst_check(condition) ((condition) ? (void)0 : CST_CHECK_FAIL(#condition))
#else
#define cst_check(condition) ((void)0)
#endif

#if CST_CHECK_LEVEL >= 2
#define cst_check_slow(condition) cst_check(condition)
#else
#define cst_check_slow(condition) ((void)0)
#endif

#define cst_likely(condition) __builtin_expect(!!(condition), 1)
#define cst_unlikely(condition) __builtin_expect(!!(condition), 0)

/* All calls of a function are inlined that can be: for a path that nearly every task takes, whose
 * calls save and restore more registers than they use. */
#define CST_FLAT __attribute__((flatten))

/* Stands after the last call of a function. The compiler then makes no jump of the call, so a
 * debugger shows the function while the call waits. */
#define CST_KEEP_CALL() __asm__ volatile("")

#endif
