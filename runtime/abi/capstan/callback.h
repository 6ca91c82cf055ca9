/* C function pointers that evaluate Haskell functions: what Capstan.Internal.Callback calls. */
#ifndef CST_ABI_CALLBACK_H
#define CST_ABI_CALLBACK_H

#include "substrate/coroutine.h"

/* These functions are visible: GHC inlines their calls into programs, which then look them up by
 * name. */
#pragma GCC visibility push(default)

/* Called once, before the first callback is made, by a safe foreign call: the function starts a
 * thread and waits for it. */
void cst_callback_prepare(void);

/* Makes a function pointer for a stable pointer to a Target of Capstan.Internal.Coroutine. NULL:
 * there is no memory, or the system does not permit new code. The call takes about 50 ns. */
struct cst_callback *cst_callback_open(void *target);
void *cst_callback_function(struct cst_callback *callback);

/* Ends the callback: no C code may call it any more. Returns its enum cst_callback_state. */
uint32_t cst_callback_close(struct cst_callback *callback);

/* The callback's Haskell function threw an exception: calls return zero from now on. */
void cst_callback_fail(struct cst_callback *callback);

#pragma GCC visibility pop

#endif
