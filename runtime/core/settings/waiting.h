/* CAPSTAN_WAIT: which heuristics of waiting are switched off (wait/README.md explains them). */
#ifndef CST_CORE_SETTINGS_WAITING_H
#define CST_CORE_SETTINGS_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits, in the order in which they are shown. */
enum cst_heuristic {
    CST_HEURISTIC_SPIN = 1 << 0,      /* a waiting thread spins before it sleeps */
    CST_HEURISTIC_YIELD = 1 << 1,     /* in a crowded team it yields before it sleeps */
    CST_HEURISTIC_COSTS = 1 << 2,     /* but not where yields have cost slices (yields.h) */
    CST_HEURISTIC_RIVALS = 1 << 3,    /* it sleeps at once beside another process (rival.h) */
    CST_HEURISTIC_HASKELL = 1 << 4,   /* idle, it sleeps at once where Haskell code wants all */
    CST_HEURISTIC_APART = 1 << 5,     /* it leaves the processor of another member (apart.h) */
    CST_HEURISTIC_GIVEWAY = 1 << 6,   /* it yields after a while, and moves if that helps */
    CST_HEURISTIC_WAKE = 1 << 7,      /* it is woken on another processor than its waker's */
    CST_HEURISTIC_NEWCOMER = 1 << 8,  /* a new worker begins on another one than its maker's */
    CST_HEURISTIC_TURNS = 1 << 9,     /* masters that want too many processors take turns */
    CST_HEURISTIC_PATIENCE = 1 << 10, /* in an ordered loop it polls rarely */
    CST_HEURISTIC_ALL = (1 << 11) - 1,
};

/* Text such as "turns:off,spin:off" or "all:off,spin:on": a later word overrides an earlier one.
 * False: it is wrong, and nothing has changed. */
bool cst_waiting_parse(const char *text, uint32_t *off);

/* The name and bit of the nth heuristic, from 0; NULL behind the last one. Asked in this order. */
const char *cst_waiting_name(size_t n, uint32_t *bit);

#endif
