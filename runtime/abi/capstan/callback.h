/* C function pointers that evaluate Haskell functions: what Capstan.Internal.Callback calls. */
#ifndef CST_ABI_CALLBACK_H
#define CST_ABI_CALLBACK_H

#include "substrate/coroutine.h"

/* Visible: GHC inlines calls of these into programs, which then need them by name. */
#pragma GCC visibility push(default)

/* Once, before the first callback is made. By a safe foreign call: it starts a thread and waits for
 * it. */
void cst_callback_prepare(void);

/* A function pointer for a stable pointer to Capstan.Internal.Coroutine's Target. NULL: no memory,
 * or the system forbids to make code. Takes about 50 ns. */
struct cst_callback *cst_callback_open(void *target);
void *cst_callback_function(struct cst_callback *callback);

/* Ends it: no C code may call it any more. Returns its enum cst_callback_state. */
uint32_t cst_callback_close(struct cst_callback *callback);

/* Its Haskell function threw: calls return zero from now on. */
void cst_callback_fail(struct cst_callback *callback);

#pragma GCC visibility pop

#endif
