/* A thread that looks at something again and again while it goes on. */
#ifndef CST_RTS_WATCHER_H
#define CST_RTS_WATCHER_H

#include <stdint.h>

/* How long its turns are: where all processors compute it would wait for the next tick otherwise.
 */
enum { CST_WATCHER_TURN_NS = 100000 };

/* Starts one: detached, with a small stack, all signals blocked and short turns. Before that it
 * stores how long the caller's turns are. Returns 0 or an errno value; keeps errno. */
int cst_rts_watcher_start(void *(*function)(void *), uint64_t *usual);

#endif
