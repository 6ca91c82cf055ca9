/* The policy of waiting: every length of this room, and the switches of its heuristics. README.md
 * has the reasons. */
#ifndef CST_CORE_WAIT_POLICY_H
#define CST_CORE_WAIT_POLICY_H

#include "core/settings/config.h"
#include "platform/check.h"
#include "platform/hidden.h"

/* All in nanoseconds, unless a name says otherwise. */
enum {
    /* --- polls: the clock is not read between them --- */
    CST_POLL_FIRST_NS = 5000,   /* polls at the beginning of a wait */
    CST_POLL_RIVALLED_NS = 125, /* the same beside a rival: enough if the member has a processor */
    CST_POLL_BURST_NS = 2500,   /* between two checks of the clock, rivals and turns */
    CST_POLL_PATIENT_NS = 100,  /* from poll to poll of a patient wait */

    CST_POLL_OWNER_NS = 1600, /* between yields for an owner whose step takes some ns */

    /* --- spinning (wait.c) --- */
    CST_SPIN_NS = 5000000,        /* then the thread sleeps; default of GOMP_SPINCOUNT */
    CST_SPIN_BESIDE_NS = 25000,   /* the same beside Haskell code, if masters stand in line */
    CST_SPIN_COUNT_NS = 10,       /* assumed length of one count of GOMP_SPINCOUNT */
    CST_SPIN_LONG_NS = 1000000,   /* a wait of this length in a region suggests rivals */
    CST_SPIN_APART_NS = 20000,    /* then the waiter may block the awaited member's processor */
    CST_GIVEWAY_ALONE_NS = 50000, /* a longer yield let other threads run as well */
    CST_GIVEWAY_TIMES = 32,       /* after this number of helpful yields two share the processor */

    /* --- yielding, in a crowded team (wait.c, yields.c) --- */
    CST_YIELD_TIMES = 300,            /* yields before a sleep */
    CST_YIELD_LONG_NS = 1000000,      /* members without work yield again within microseconds */
    CST_YIELD_LONG_TIMES = 2,         /* in a row: a single one may be another member's work */
    CST_YIELD_FIRST_NS = 8000000,     /* first time of sleep in place of yields, */
    CST_YIELD_LONGEST_NS = 256000000, /* and the longest */

    /* --- members that share processors beside Haskell code (together.c) --- */
    CST_TOGETHER_AFTER_NS = 1000000, /* shorter Haskell code costs less than half a processor */
    CST_TOGETHER_LONG_NS = 50000,    /* the master's part; a region of 5 us lost 230 by sharing */
    CST_TOGETHER_LONG_TIMES = 8,
    CST_TOGETHER_THROUGHOUT_TIMES = 4, /* short work is at both ends of one in five */
    CST_TOGETHER_LASTS_NS = 5000000,   /* most collections of garbage are shorter */
    CST_TOGETHER_LATE_NS = 50000,      /* a switch takes 2 us: another thread has run */
    CST_TOGETHER_LATE_TIMES = 4,       /* two late joins in a row, or more late ones than others */
    CST_TOGETHER_FIRST_NS = 5000000,   /* between two moves of the master: first time, */
    CST_TOGETHER_LONGEST_NS = 320000000, /* and the longest */

    /* --- confined programs (wait.c) --- */
    CST_FILTER_NS = 8000, /* the kernel takes longer to install the shortest filter of system calls:
                           * at least 8.5 us in 3000 trials on a processor of 2024 */
    CST_FILTER_QUESTIONS = 4, /* that may last longer than that, before a thread sleeps */

    /* --- sleeping (wait.c) --- */
    CST_UNSEEN_TASK_NS = 1000000, /* without membarrier(2): first delay until a task is seen, */
    CST_UNSEEN_TOGETHER_NS = 16000000, /* the same beside Haskell code; longer than any tick */
    CST_UNSEEN_MOST_NS = 64000000,     /* and the longest, if no task comes */

    /* --- rivals (rival.c) --- */
    CST_RIVAL_SLICE_NS = 1000000,      /* a daemon takes less, a process that computes more */
    CST_RIVAL_SLICES_NS = 30000000,    /* some slices of a thread and its rival */
    CST_RIVAL_STALE_NS = 120000000,    /* a longer window tells nothing about the present */
    CST_RIVAL_COARSE_NS = 20000,       /* between two waits: several times the cost of a sleep */
    CST_RIVAL_FIRST_NS = 20000000,     /* first time for which a rival is remembered, */
    CST_RIVAL_LONGEST_NS = 1280000000, /* and the longest */
    CST_RIVAL_LATELY_NS = 1000000000,  /* a lost slice is remembered for this time */
    CST_RIVAL_LOOKS = 8,               /* in a row that find a Haskell thread that goes on, */
    CST_RIVAL_COMPUTES_NS = 1000000,   /* in more than this time, until it counts as computing */

    /* --- placement (apart.c) --- */
    CST_APART_WINDOW_NS = 15000000,  /* some slices */
    CST_APART_STALE_NS = 60000000,   /* an older window is begun anew */
    CST_APART_MOVE_NS = 8000000,     /* a move that lasts longer cost more than a slice */
    CST_APART_FIRST_NS = 1000000000, /* no moves for this time after a wrong move, */
    CST_APART_DOUBLINGS = 10,        /* doubled at most this number of times */

    /* --- turns of masters (turn.c) --- */
    CST_TURN_SLICE_NS = 1000000,      /* enough for many regions, less than the kernel's slice */
    CST_TURN_PATIENCE_NS = 20000000,  /* of the first in line; plus a slice for each one before */
    CST_TURN_FIRST_NS = 100000000,    /* no master waits for this time if that is in vain, */
    CST_TURN_LONGEST_NS = 1600000000, /* doubled each time, up to this */
    CST_TURN_LOOK_NS = 2000000,  /* from one look of an announcer to the next, times its place, */
    CST_TURN_SOON_NS = 250000,   /* and of another master: some times what a look costs it */
    CST_TURN_STEP_NS = 18000,    /* from one barrier or join to the next: more, and turns rest */
    CST_TURN_PACE_NS = 10000000, /* the regions of the last turns, to begin with, */
    CST_TURN_PACE_STEPS = 1000,  /* and their barriers and joins */
    CST_TURN_PACE_OF = 16,       /* so many turns count, about */
    CST_TURN_TRIES = 64,         /* to get the line's lock, for an announcement */

    /* --- questions that announce a region (announce.h, turn.c) --- */
    CST_ANNOUNCE_FIRST_NS = 20000000,     /* until the region comes: some slices of the kernel, */
    CST_ANNOUNCE_LONGEST_NS = 320000000,  /* doubled each time that it does not, up to this */
    CST_ANNOUNCE_HELD_NS = 1000000,       /* for a waiter that holds a Capability */
    CST_ANNOUNCE_PATIENCE_NS = 250000000, /* beside rivals a product of matrices takes 30 ms */
    CST_ANNOUNCE_MOST_NS = 2000000000,    /* for a turn, though other masters get ahead */
    CST_ANNOUNCE_LEARNED = 3,             /* regions of a site, each after one question */
    CST_ANNOUNCE_PROMPT_NS = 20000,       /* OpenBLAS's region comes 1 to 5 us after its question */
    CST_ANNOUNCE_PROMPT_LEARNED = 4,      /* prompt regions, less those that were not, */
    CST_ANNOUNCE_PROMPT_MOST = 8,         /* of which so many count */
    CST_ANNOUNCE_NO_REGION = 16,          /* more of them, after a question without a region, */
    CST_ANNOUNCE_IN_VAIN = 1024,          /* and after a wait in vain; doubled each time, */
    CST_ANNOUNCE_MOST_EXTRA = 1 << 20,    /* up to this */

    /* --- locks (lock.c) --- */
    CST_LOCK_FIRST_NS = 200,  /* from the first look at the word to the second; doubled up to */
    CST_LOCK_MOST_NS = 12800, /* this */
    CST_LOCK_LOOKS = 24,      /* about 0.2 ms in all, longer than most critical sections */
};

/* The policy that follows from these lengths, the settings and the processor. All zero before the
 * settings are read: then no thread polls, spins or yields. */
struct cst_policy {
    uint64_t spin_ns;
    uint32_t yields; /* in a crowded team, before a sleep */
    bool forever;    /* OMP_WAIT_POLICY=active, GOMP_SPINCOUNT=infinite: no sleep */
    /* The lengths above in pauses of this processor. */
    uint32_t first_polls, rivalled_polls, burst_polls, owner_polls, patient_pauses;
    uint32_t lock_first_pauses, lock_most_pauses;
};
extern CST_HIDDEN struct cst_policy cst_policy;

/* Reads the settings; called once. */
void cst_policy_init(void);

/* Is the heuristic in use (CAPSTAN_WAIT)? */
static inline bool cst_heuristic_is_on(enum cst_heuristic heuristic) {
    return cst_likely(!(cst_config.wait_off & heuristic));
}

/* Do idle workers spin before they sleep? */
static inline bool cst_policy_spins(void) {
    return cst_policy.spin_ns > 0 || cst_policy.forever;
}

#endif
