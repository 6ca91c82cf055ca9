/* coherence.h: the caches that have each line, and the arithmetic behind machine.h.
 *
 * An invalidation protocol with three states for each cache: none, shared, exclusive. */
#ifndef CAPSTAN_SIMULATE_COHERENCE_H
#define CAPSTAN_SIMULATE_COHERENCE_H

#include "machine.h"

struct line {
    uintptr_t number; /* address / SIM_LINE; 0: slot is free */
    int owner;        /* the cache that has the line alone; -1: none, or shared */
    uint64_t sharers[SIM_MOST / 64];
    uint64_t ready; /* the end of the last requested transfer */
};

void coherence_reset(void);

/* Returns the line with this number, and makes it if it is new. The pointer is valid until the next
 * call. */
struct line *coherence_line(uintptr_t number);

/* Called for each cache that loses the line to a writer. */
typedef void coherence_loss(int thread, uint64_t when);

/* Performs an access of thread `self` at time `now`, and returns the time of its end. */
uint64_t coherence_access(uintptr_t number, int self, uint64_t now, bool write,
                          coherence_loss *lost);

/* Returns whether thread `self` can access the line without a transfer, and without effect on other
 * threads. */
bool coherence_is_private(const struct line *line, int self);

uint64_t coherence_transfers(void);

#endif
