/* Watchers: threads that poll a state while it lasts. */
#ifndef CST_RTS_WATCHER_H
#define CST_RTS_WATCHER_H

#include <signal.h>
#include <stdint.h>

/* The length of a watcher's turns on a processor. With longer turns it would wait for the next tick
 * while all processors compute. */
enum { CST_WATCHER_TURN_NS = 100000 };

/* Properties of the program's threads that a watcher does not have. */
struct cst_rts_usual {
    sigset_t mask;
    uint64_t turns;
};

/* Starts a watcher: detached, with a small stack, all signals blocked and short turns. Before that,
 * it stores the caller's properties. Returns 0 or an errno value; keeps errno. */
int cst_rts_watcher_start(void *(*function)(void *), struct cst_rts_usual *usual);

/* Called around a watcher's calls of GHC, which may start a worker that inherits the watcher's
 * properties. */
void cst_rts_watcher_enter_ghc(const struct cst_rts_usual *usual);
void cst_rts_watcher_leave_ghc(void);

#endif
