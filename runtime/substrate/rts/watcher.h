/* A thread that looks at something again and again while it goes on. */
#ifndef CST_RTS_WATCHER_H
#define CST_RTS_WATCHER_H

#include <signal.h>
#include <stdint.h>

/* How long its turns are: where all processors compute it would wait for the next tick otherwise.
 */
enum { CST_WATCHER_TURN_NS = 100000 };

/* What threads of the program have, and a watcher has not. */
struct cst_rts_usual {
    sigset_t mask;
    uint64_t turns;
};

/* Starts one: detached, with a small stack, all signals blocked and short turns. Before that it
 * stores what the caller has. Returns 0 or an errno value; keeps errno. */
int cst_rts_watcher_start(void *(*function)(void *), struct cst_rts_usual *usual);

/* Around a watcher's calls of GHC, which may start a worker that inherits what the watcher has. */
void cst_rts_watcher_enter_ghc(const struct cst_rts_usual *usual);
void cst_rts_watcher_leave_ghc(void);

#endif
