/* The loop in which a member of a team waits, and how it is woken.
 *
 * A waiter polls, spins, yields, then sleeps (park.h), and does something useful meanwhile if there
 * is anything to do. */
#ifndef CST_CORE_WAIT_WAIT_H
#define CST_CORE_WAIT_WAIT_H

#include "core/state/thread.h"
#include "platform/platform.h"

struct cst_wait {
    /* The condition; loads with acquire at least, and sequentially consistent on W2. */
    bool (*holds)(const struct cst_wait *wait);
    /* Does something useful meanwhile; false when there was nothing. NULL: nothing to do. */
    bool (*help)(struct cst_thread *thread, const struct cst_wait *wait);
    _Atomic uint32_t *word;
    uint32_t target;
    bool idle; /* a worker without a region: it has the least right to a processor */
    /* It is a matter of turns: the thread that has the turn also works on data that the next one
     * needs, and a poll in between takes longer than it saves. So polls come rarely. */
    bool patient;
    const void *object;
    /* How long the waiter sleeps at most, in nanoseconds; then cst_wait returns though the
     * condition does not hold. 0: for ever. */
    uint64_t patience;
};

/* Has the counter reached the target? Counters wrap. */
static inline bool cst_reached(_Atomic uint32_t *word, uint32_t target) {
    return (int32_t)(cst_load_seq_cst(word) - target) >= 0;
}

bool cst_wait_word_holds(const struct cst_wait *wait);

/* Polls for some microseconds, unless the team is crowded. True: the condition holds. The caller
 * goes on to cst_wait otherwise, and need not have told anyone that it waits before. */
bool cst_wait_briefly(struct cst_thread *thread, const struct cst_wait *wait);

/* Returns when the condition holds, or the waiter's patience has ended. May block. */
void cst_wait(struct cst_thread *thread, const struct cst_wait *wait);

/* Waits until *word has reached target, without helping. */
static inline void cst_wait_word(struct cst_thread *thread, _Atomic uint32_t *word,
                                 uint32_t target) {
    if (cst_reached(word, target)) return;
    struct cst_wait wait = {.holds = cst_wait_word_holds, .word = word, .target = target};
    cst_wait(thread, &wait);
}

/* Wakes a member that was found parked. */
void cst_wake_parked(struct cst_seat *seat);

/* K2 for one member. The caller has changed the condition by a sequentially consistent store. */
static inline void cst_wake(struct cst_seat *seat) {
    if (cst_likely(!cst_load_seq_cst(&seat->dock.parked))) return;
    cst_wake_parked(seat);
}

/* Wakes every member that sleeps. The caller has changed what they wait for by a sequentially
 * consistent store. */
void cst_team_wake(struct cst_team *team);

/* Does the waiter's help (below, for this room). True: it did something. */
bool cst_wait_helped(struct cst_thread *thread, const struct cst_wait *wait);

#endif
