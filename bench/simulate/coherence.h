/* coherence.h: who has which line; the arithmetic behind machine.h.
 *
 * An invalidation protocol with three states for each cache: none, shared, exclusive. */
#ifndef CAPSTAN_SIMULATE_COHERENCE_H
#define CAPSTAN_SIMULATE_COHERENCE_H

#include "machine.h"

struct line {
    uintptr_t number; /* address / SIM_LINE; 0: slot is free */
    int owner;        /* has it alone; -1: nobody, or shared */
    uint64_t sharers[SIM_MOST / 64];
    uint64_t ready; /* when the last transfer asked for is over */
};

void coherence_reset(void);

/* The line with that number, made when it is new. Valid until the next call. */
struct line *coherence_line(uintptr_t number);

/* Called for each cache that loses the line to a writer. */
typedef void coherence_loss(int thread, uint64_t when);

/* What an access of thread `self` at time `now` does; returns when it is over. */
uint64_t coherence_access(uintptr_t number, int self, uint64_t now, bool write,
                          coherence_loss *lost);

/* Whether thread `self` can access the line without a transfer and without anyone noticing. */
bool coherence_is_private(const struct line *line, int self);

uint64_t coherence_transfers(void);

#endif
