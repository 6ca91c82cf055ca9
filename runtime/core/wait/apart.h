/* Places members of a team that spin for each other on different processors. */
#ifndef CST_CORE_WAIT_APART_H
#define CST_CORE_WAIT_APART_H

#include "core/state/thread.h"
#include "core/wait/rival.h"
#include "platform/hidden.h"

/* Publishes the member's processor, as it begins a region or wakes up. */
static inline void cst_apart_say(struct cst_seat *seat) {
    cst_store_relaxed(&seat->seen_on, cst_cpu_current() + 1);
}

/* For a member that has spun for long. It moves if another member of its team was last seen on the
 * same processor, and if it had about half of that processor. It moves to a processor without a
 * member, if it may run there. True: it has moved. */
bool cst_apart(struct cst_thread *thread);

/* The same, whether or not there is a rival, and whatever share the thread had. For a member that
 * knows that another one ran here while it waited. */
bool cst_apart_at_once(struct cst_thread *thread);

/* Was another member of the team last seen on the thread's processor? Then that member may have had
 * a slice which the thread has lost. Members say where they are once a slice has been lost. */
bool cst_apart_is_beside(struct cst_thread *thread);

/* Does the kernel queue a woken worker on its waker's processor, although another processor idles?
 * It does so in virtual machines, where a sleeping processor looks taken. */
extern CST_HIDDEN _Atomic bool cst_apart_wakes_here;
static inline bool cst_apart_woken_here(void) {
    return cst_load_relaxed(&cst_apart_wakes_here) && !cst_load_relaxed(&cst_rival_seen);
}

/* Called by an idle worker that runs again after a member on `processor` (plus 1) woke it. If the
 * worker is there now, it had to wait until that member gave the processor away. */
void cst_apart_woken(uint32_t processor);

/* Moves the calling thread away from that processor, if it is there and may run elsewhere. */
void cst_apart_from(uint32_t processor);

#endif
