/* Members of a team that spin for each other belong on different processors. */
#ifndef CST_CORE_WAIT_APART_H
#define CST_CORE_WAIT_APART_H

#include "core/state/thread.h"
#include "core/wait/rival.h"

/* A member says where it is, as it begins a region or wakes up. */
static inline void cst_apart_say(struct cst_seat *seat) {
    cst_store_relaxed(&seat->seen_on, cst_cpu_current() + 1);
}

/* For a member that has spun for long: if another one of its team was last seen on the same
 * processor lately, and half of it was left to this one, it moves to where none was, if it may run
 * there. True: it has moved. */
bool cst_apart(struct cst_thread *thread);

/* The same, whether or not there is a rival and whatever the thread has had: for who knows that
 * another member ran here while it waited. */
bool cst_apart_at_once(struct cst_thread *thread);

/* Does the kernel leave a worker that was asleep where the member that wakes it computes, although
 * it idles elsewhere? It does in virtual machines: a processor that sleeps looks taken to it. */
extern _Atomic bool cst_apart_wakes_here;
static inline bool cst_apart_woken_here(void) {
    return cst_load_relaxed(&cst_apart_wakes_here) && !cst_load_relaxed(&cst_rival_seen);
}

/* For an idle worker that was woken by a member on `processor`, plus 1, as it runs again: if it is
 * there now, it had to wait until that member gave its processor away. */
void cst_apart_woken(uint32_t processor);

/* Moves the calling thread away from that processor, if it is there, and may run elsewhere. */
void cst_apart_from(uint32_t processor);

#endif
