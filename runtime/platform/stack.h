/* Side stacks, and C function pointers that carry an object: what a call from C into a coroutine
 * needs of the processor.
 *
 * Implemented in linux/stack.c and linux/thunk.c, and for each processor in its stack.S, switch.h
 * and thunk.h. A side stack belongs to one thread: it is begun, switched to and ended there,
 * so thread-local storage and errno are the same on both sides. */
#ifndef CST_PLATFORM_STACK_H
#define CST_PLATFORM_STACK_H

#include "numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- stack.c --------------------------------------------------------------------------- */

/* An inaccessible page lies below `base`: who runs over the end gets SIGSEGV there, not another
 * stack's memory. */
struct cst_stack {
    char *base, *top;   /* the stack grows from top down to base */
    uintptr_t known_as; /* to valgrind */
};

/* Addresses for a stack of at least `size` bytes; memory comes as it is used. False: none left.
 * Two system calls. */
bool cst_stack_make(struct cst_stack *stack, size_t size);
void cst_stack_free(struct cst_stack *stack);

/* Calls function(argument) on a stack of at least `size` bytes, for what needs more than the caller
 * may have. False: there is no memory for it, and it was not called. */
bool cst_stack_call(size_t size, void (*function)(void *), void *argument);

/* --- switching ------------------------------------------------------------------------- */

/* Where a suspended stack goes on. stack.S knows this layout. */
struct cst_stack_place {
    void *stack, *frame, *code;
};

/* Suspends the calling stack in *from and goes on at *to. Returns when somebody goes to *from.
 * About 1 ns. Inline and by jumps, so that the processor goes on predicting returns: whoever
 * switches away and comes back finds what it called and what has returned in balance, if the other
 * side (stack.S, cst_stack_resume_kept) neither calls nor returns. */
static inline void cst_stack_switch(struct cst_stack_place *from, struct cst_stack_place *to);

/* Suspends the calling stack in *from and calls function(argument) on an unused one, of which `top`
 * is the end. The function never returns: it ends by switching away. While it runs, *from is to
 * hold the place of the stack below, for that is where debuggers look for the caller. */
void cst_stack_begin(struct cst_stack_place *from, char *top, void (*function)(void *),
                     void *argument);

/* The switch as Haskell makes it, from places[0] to places[1]: as a primitive operation (foreign
 * import prim), which is not to be called from C. Answered, it goes on where Sp pointed. */
void cst_stack_resume_kept(void);

/* --- thunk.c --------------------------------------------------------------------------- */

/* A call, as it arrived: the registers in which the C convention passes arguments (those of
 * pointers and integers; those of floating-point numbers, float in the lower half) and the rest,
 * in words. Results go into the first register of their kind. stack.S knows this layout. */
struct cst_call {
    uint64_t integer[CST_CALL_INTEGERS];
    uint64_t real[CST_CALL_REALS];
    const uint64_t *stack;
};

/* The head of an object that a thunk carries. */
struct cst_callee {
    void (*function)(struct cst_callee *callee, struct cst_call *call);
};

/* A C function that, whatever its prototype, calls callee->function. NULL: no memory, or the system
 * forbids to make code. Does not block but for a lock that is held for nanoseconds. */
void *cst_thunk_make(struct cst_callee *callee);
/* Ends it. A later call goes to `instead`, until the thunk is used again, as late as possible. */
void cst_thunk_free(void *thunk, struct cst_callee *instead);

#include "switch.h"

#endif
