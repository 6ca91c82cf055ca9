/* How a member sleeps, and how it is woken: the mechanism, without a heuristic but one.
 *
 * The sleeper waits on its own seat's futex, so one word serves every kind of wait. The argument is
 * in README.md, "Sleep and wake":
 *   waiter  W1 parked := 1   W2 look at the condition   W3 sleep while parked = 1
 *   waker   K1 change the condition   K2 look at parked; if 1, set it to 0 or 2 and wake
 * W1, W2, K1 and K2 are sequentially consistent, so W2 sees K1 or K2 sees W1. After 2 the waker
 * takes the sleeper to another processor (apart.h); nobody but this waker ends that. */
#ifndef CST_CORE_WAIT_PARK_H
#define CST_CORE_WAIT_PARK_H

#include "core/wait/wait.h"

/* W1 to W3. Returns when woken, or when there is something to do. False: the waiter's patience has
 * ended. */
bool cst_park(struct cst_thread *thread, const struct cst_wait *wait);

#endif
