/* The mechanism by which a member sleeps and is woken. Its only heuristic is the move in K2.
 *
 * The sleeper waits on its own seat's futex, so one word serves every kind of wait. The argument is
 * in README.md, "Sleep and wake":
 *
 *     waiter  W1 parked := 1   W2 test the condition   W3 sleep while parked = 1
 *     waker   K1 change the condition   K2 read parked; if 1, set it to 0 or 2 and wake
 *
 * W1, W2, K1 and K2 are sequentially consistent, so W2 sees K1 or K2 sees W1. After it has set 2,
 * the waker moves the sleeper to another processor (apart.h); only this waker then sets 0. */
#ifndef CST_CORE_WAIT_PARK_H
#define CST_CORE_WAIT_PARK_H

#include "core/wait/wait.h"

/* W1 to W3. Returns when woken, or when the condition holds or a task was run. False: the waiter's
 * patience has ended. */
bool cst_park(struct cst_thread *thread, const struct cst_wait *wait);

#endif
