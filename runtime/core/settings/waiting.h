/* CAPSTAN_WAIT: the heuristics of waiting that are switched off (wait/README.md explains them). */
#ifndef CST_CORE_SETTINGS_WAITING_H
#define CST_CORE_SETTINGS_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits, in the order in which they are shown. */
enum cst_heuristic {
    CST_HEURISTIC_SPIN = 1 << 0,      /* a waiting thread spins before it sleeps */
    CST_HEURISTIC_YIELD = 1 << 1,     /* in a crowded team a thread yields before it sleeps */
    CST_HEURISTIC_COSTS = 1 << 2,     /* but not if yields have cost time slices (yields.h) */
    CST_HEURISTIC_RIVALS = 1 << 3,    /* beside another process a thread sleeps at once (rival.h) */
    CST_HEURISTIC_HASKELL = 1 << 4,   /* idle, a worker sleeps at once if Haskell code wants all */
    CST_HEURISTIC_APART = 1 << 5,     /* a member leaves the processor of another one (apart.h) */
    CST_HEURISTIC_GIVEWAY = 1 << 6,   /* a thread yields after a while, and moves if that helps */
    CST_HEURISTIC_WAKE = 1 << 7,      /* a thread is woken on another processor than its waker's */
    CST_HEURISTIC_NEWCOMER = 1 << 8,  /* a new worker begins on another processor */
    CST_HEURISTIC_TURNS = 1 << 9,     /* masters that want too many processors take turns */
    CST_HEURISTIC_PATIENCE = 1 << 10, /* in an ordered loop a thread polls rarely */
    CST_HEURISTIC_TOGETHER = 1 << 11, /* members share processors beside Haskell (together.h) */
    CST_HEURISTIC_FORKS = 1 << 12,    /* idle, a worker sleeps when its process forks */
    CST_HEURISTIC_ALL = (1 << 13) - 1,
};

/* Text such as "turns:off,spin:off" or "all:off,spin:on": a later word overrides an earlier one.
 * False: the text is wrong, and *off is unchanged. */
bool cst_waiting_parse(const char *text, uint32_t *off);

/* The name and bit of heuristic n, from 0, in the order in which they are shown; NULL after the
 * last. */
const char *cst_waiting_name(size_t n, uint32_t *bit);

#endif
