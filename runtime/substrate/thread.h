/* Makes one thread, for both substrates. */
#ifndef CST_SUBSTRATE_THREAD_H
#define CST_SUBSTRATE_THREAD_H

#include <stdbool.h>
#include <stddef.h>

/* Starts a detached thread that runs function(argument) with the caller's signal mask and a stack
 * of `stack_size` bytes (0: the system's default) plus `more` bytes for the runtime. A size below
 * the system's minimum causes the default and, once, a message. `apart`: see the substrate's spawn.
 * Returns 0 or an errno value; keeps errno. */
int cst_thread_start(void *(*function)(void *), void *argument, size_t stack_size, size_t more,
                     bool apart);

#endif
