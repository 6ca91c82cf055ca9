/* The loop in which a member of a team waits, and how it is woken.
 *
 * A waiter polls, spins, yields, then sleeps (park.h). Meanwhile it runs tasks, if its wait permits
 * it and there are any. */
#ifndef CST_CORE_WAIT_WAIT_H
#define CST_CORE_WAIT_WAIT_H

#include "core/state/thread.h"
#include "platform/platform.h"

struct cst_wait {
    /* The condition; loads with acquire at least, and sequentially consistent on W2. */
    bool (*holds)(const struct cst_wait *wait);
    /* Does useful work meanwhile, such as a task; false if there was none. NULL: no help. */
    bool (*help)(struct cst_thread *thread, const struct cst_wait *wait);
    _Atomic uint32_t *word;
    uint32_t target;
    bool idle; /* a worker without a region, with the least right to a processor */
    /* Polls come rarely: the wait is for a turn. The thread that has the turn also writes data that
     * the next one needs, and each poll takes the line from it. */
    bool patient;
    const void *object;
    /* The longest sleep of the waiter, in nanoseconds; then cst_wait returns though the condition
     * does not hold. 0: for ever. */
    uint64_t patience;
};

/* Has the counter reached the target? Counters wrap. */
static inline bool cst_reached(_Atomic uint32_t *word, uint32_t target) {
    return (int32_t)(cst_load_seq_cst(word) - target) >= 0;
}

bool cst_wait_word_holds(const struct cst_wait *wait);

/* Polls for some microseconds, unless the team is crowded. True: the condition holds. Otherwise the
 * caller continues with cst_wait. Before this call it need not have told any thread that it
 * waits. */
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

/* The number of forks of this process, in a line of its own, which is seldom written. */
extern CST_HIDDEN struct cst_forks { CST_LINE_ALIGNED _Atomic uint32_t number; } cst_forks;

/* Tells idle workers that the process has forked. For the parent. */
void cst_wait_note_fork(void);

/* A worker's region begins: only later forks will concern it. */
static inline void cst_wait_forget_forks(struct cst_thread *thread) {
    thread->forks = cst_load_relaxed(&cst_forks.number);
}

/* Wakes a member that was found parked. */
void cst_wake_parked(struct cst_seat *seat);

/* K2 for one member. The caller has changed the condition by a sequentially consistent store. */
static inline void cst_wake(struct cst_seat *seat) {
    if (cst_likely(!cst_load_seq_cst(&seat->dock.parked))) return;
    cst_wake_parked(seat);
}

/* Wakes every member that sleeps. The caller has changed their condition by a sequentially
 * consistent store. */
void cst_team_wake(struct cst_team *team);

/* Calls the waiter's help; for the files of this room. True: it did some work. */
bool cst_wait_helped(struct cst_thread *thread, const struct cst_wait *wait);

#endif
