/* Side stacks, and C function pointers that carry an object: the processor's part of a call from C
 * into a coroutine.
 *
 * linux/stack.c and linux/thunk.c implement them, with a stack.S, switch.h and thunk.h for each
 * processor. A side stack belongs to one thread, which begins it, switches to it and ends it. So
 * thread-local storage and errno are the same on both sides. */
#ifndef CST_PLATFORM_STACK_H
#define CST_PLATFORM_STACK_H

#include "numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- stack.c --------------------------------------------------------------------------- */

/* An inaccessible page lies below `base`: a function that overruns the stack gets SIGSEGV there,
 * not another stack's memory. */
struct cst_stack {
    char *base, *top;   /* the stack grows from top down to base */
    uintptr_t known_as; /* to valgrind */
};

/* Reserves addresses for a stack of at least `size` bytes. The kernel provides memory on use.
 * False: no addresses are left. Two system calls. */
bool cst_stack_make(struct cst_stack *stack, size_t size);
void cst_stack_free(struct cst_stack *stack);

/* Calls function(argument) on a stack of at least `size` bytes, for a function that needs more than
 * the caller's stack may have. False: there is no memory for the stack, and the function was not
 * called. */
bool cst_stack_call(size_t size, void (*function)(void *), void *argument);

/* --- switching ------------------------------------------------------------------------- */

/* The place where a suspended stack continues. stack.S knows this layout. */
struct cst_stack_place {
    void *stack, *frame, *code;
};

/* Suspends the calling stack in *from and continues at *to. Returns when the other side switches to
 * *from. Takes about 1 ns. It is inline and uses jumps, so that the processor continues to predict
 * returns: calls and returns stay balanced, if the other side (stack.S, cst_stack_resume_kept)
 * neither calls nor returns. */
static inline void cst_stack_switch(struct cst_stack_place *from, struct cst_stack_place *to);

/* Suspends the calling stack in *from and calls function(argument) on an unused stack, of which
 * `top` is the end. The function never returns: it ends by a switch. While it runs, *from must hold
 * the place of the stack below, since debuggers look for the caller there. */
void cst_stack_begin(struct cst_stack_place *from, char *top, void (*function)(void *),
                     void *argument);

/* Haskell's switch, from places[0] to places[1], as a primitive operation (foreign import prim). C
 * code must not call it. When the other side switches back, it continues at the frame to which Sp
 * points. */
void cst_stack_resume_kept(void);

/* --- thunk.c --------------------------------------------------------------------------- */

/* The arguments of a call, as they arrived. `integer` and `real` are the registers in which the C
 * convention passes pointers and integers, and floating-point numbers (a float in the lower half).
 * `stack` has the other arguments, in words. A result goes into the first register of its kind.
 * stack.S knows this layout. */
struct cst_call {
    uint64_t integer[CST_CALL_INTEGERS];
    uint64_t real[CST_CALL_REALS];
    const uint64_t *stack;
};

/* The head of an object that a thunk carries. */
struct cst_callee {
    void (*function)(struct cst_callee *callee, struct cst_call *call);
};

/* Makes a C function that, whatever its prototype, calls callee->function. NULL: no memory, or the
 * system forbids to make code. Blocks only on a lock that is held for nanoseconds. */
void *cst_thunk_make(struct cst_callee *callee);
/* Ends a thunk. A later call goes to `instead`, until the thunk is reused, as late as possible. */
void cst_thunk_free(void *thunk, struct cst_callee *instead);

#include "switch.h"

#endif
