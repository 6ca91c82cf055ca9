/* How long threads wait in which way: every length of this room, and the switches of its
 * heuristics. README.md has the reasons. */
#ifndef CST_CORE_WAIT_POLICY_H
#define CST_CORE_WAIT_POLICY_H

#include "core/settings/config.h"
#include "platform/check.h"

/* All in nanoseconds, unless a name says otherwise. */
enum {
    /* --- polls: between them the clock is not read --- */
    CST_POLL_FIRST_NS = 5000,   /* what a wait begins with */
    CST_POLL_RIVALLED_NS = 125, /* the same beside a rival: enough for a member with a processor */
    CST_POLL_BURST_NS = 2500,   /* between two looks at the clock, at rivals and at turns */
    CST_POLL_PATIENT_NS = 100,  /* from poll to poll, where polls are to come rarely */

    CST_POLL_OWNER_NS = 1600, /* from yield to yield, while a thread does a step of some ns */

    /* --- spinning (wait.c) --- */
    CST_SPIN_NS = 5000000,        /* then the thread sleeps; default of GOMP_SPINCOUNT */
    CST_SPIN_COUNT_NS = 10,       /* what one GOMP_SPINCOUNT is taken to last */
    CST_SPIN_LONG_NS = 1000000,   /* a wait in a region so long raises a suspicion of rivals */
    CST_SPIN_APART_NS = 20000,    /* so long, and it may stand in the way of the awaited member */
    CST_GIVEWAY_ALONE_NS = 50000, /* a yield that takes longer let other threads run as well */
    CST_GIVEWAY_TIMES = 32,       /* yields in a row that helped: the two share the processor */

    /* --- yielding, in a crowded team (wait.c, yields.c) --- */
    CST_YIELD_TIMES = 300,        /* yields before a sleep */
    CST_YIELD_LONG_NS = 1000000,  /* members without work yield again within microseconds */
    CST_YIELD_LONG_TIMES = 8,     /* in a row; meanwhile the kernel would have moved the thread */
    CST_YIELD_FIRST_NS = 8000000, /* how long to sleep in place of yields at first, */
    CST_YIELD_LONGEST_NS = 256000000, /* and at last */

    /* --- confined programs (wait.c) --- */
    CST_FILTER_NS = 8000, /* the kernel takes longer to install the shortest filter of system calls:
                           * 8.5 us at the least of 3000 on a processor of 2024 */

    /* --- sleeping (wait.c) --- */
    CST_UNSEEN_TASK_NS =
        1000000, /* without membarrier(2): how long a task may go unseen, at first */
    CST_UNSEEN_MOST_NS = 64000000, /* and where no task has come for as long */

    /* --- rivals (rival.c) --- */
    CST_RIVAL_SLICE_NS = 1000000,      /* a daemon takes less, a process that computes more */
    CST_RIVAL_SLICES_NS = 30000000,    /* some slices of a thread and its rival */
    CST_RIVAL_STALE_NS = 120000000,    /* too many to tell how it is now */
    CST_RIVAL_COARSE_NS = 20000,       /* between two waits: several times what sleeping costs */
    CST_RIVAL_FIRST_NS = 20000000,     /* how long a rival is remembered at first, */
    CST_RIVAL_LONGEST_NS = 1280000000, /* and at last */
    CST_RIVAL_LATELY_NS = 1000000000,  /* how long a lost slice is remembered */
    CST_RIVAL_REST_NS = 2000000,       /* no Haskell code for so long: longer than a collection */

    /* --- placement (apart.c) --- */
    CST_APART_WINDOW_NS = 15000000,  /* some slices */
    CST_APART_STALE_NS = 60000000,   /* a window that began so long ago is begun anew */
    CST_APART_MOVE_NS = 8000000,     /* more than a slice of a thread on the other processor */
    CST_APART_FIRST_NS = 1000000000, /* no moves after one that was wrong, */
    CST_APART_DOUBLINGS = 10,        /* doubled so often at most */

    /* --- turns of masters (turn.c) --- */
    CST_TURN_SLICE_NS = 1000000,      /* many regions, and less than the kernel's slice */
    CST_TURN_PATIENCE_NS = 20000000,  /* of the first in line; a slice more for each before one */
    CST_TURN_FIRST_NS = 100000000,    /* nobody waits after a wait that was in vain, */
    CST_TURN_LONGEST_NS = 1600000000, /* for twice as long each time */

    /* --- locks (lock.c) --- */
    CST_LOCK_FIRST_NS = 200,  /* from the first look at the word to the second, doubled up to */
    CST_LOCK_MOST_NS = 12800, /* this */
    CST_LOCK_LOOKS = 24,      /* about 0.2 ms in all, longer than most critical sections */
};

/* What follows from these, the settings and the processor. All zero before it is read: then nobody
 * polls, spins or yields. */
struct cst_policy {
    uint64_t spin_ns;
    uint32_t yields; /* in a crowded team, before it sleeps */
    bool forever;    /* OMP_WAIT_POLICY=active, GOMP_SPINCOUNT=infinite: nobody sleeps */
    /* The processor's pauses that the lengths above are. */
    uint32_t first_polls, rivalled_polls, burst_polls, owner_polls, patient_pauses;
    uint32_t lock_first_pauses, lock_most_pauses;
};
extern struct cst_policy cst_policy;

/* Reads the settings; called once. */
void cst_policy_init(void);

/* Is it in use (CAPSTAN_WAIT)? */
static inline bool cst_heuristic_is_on(enum cst_heuristic heuristic) {
    return cst_likely(!(cst_config.wait_off & heuristic));
}

/* Do idle workers spin before they sleep? */
static inline bool cst_policy_spins(void) {
    return cst_policy.spin_ns > 0 || cst_policy.forever;
}

#endif
