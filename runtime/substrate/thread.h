/* Making one thread; both substrates do it here. */
#ifndef CST_SUBSTRATE_THREAD_H
#define CST_SUBSTRATE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts a detached thread that runs function(argument) with the caller's signal mask and a stack
 * of `stack_size` bytes (0: the system's default) and `more` for our own needs. A size below the
 * system's minimum gives the default and, once, a message. `apart`: see the substrate's spawn.
 * Returns 0 or an errno value; keeps errno. */
int cst_thread_start(void *(*function)(void *), void *argument, size_t stack_size, size_t more,
                     bool apart);

/* How long a watcher's turns are: where all processors compute it would wait for the next tick
 * otherwise. */
enum { CST_WATCHER_TURN_NS = 100000 };

/* Starts a thread that looks at something again and again: detached, with a small stack, all
 * signals blocked and short turns. Before that it stores how long the caller's turns are. Returns 0
 * or an errno value; keeps errno. */
int cst_thread_start_watcher(void *(*function)(void *), uint64_t *usual);

#endif
