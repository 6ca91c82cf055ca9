/* A random region: the data that its members share, and the random numbers that choose their steps.
 *
 * All members draw from generators with the same seed, so they meet the same constructs in the same
 * order. Each member has a second generator for delays. A step has a slot if its result is known
 * only when all members are done; the master checks it behind the region. */
#ifndef STRESS_REGION_H
#define STRESS_REGION_H

#include "testing.h"
#include <omp.h>
#include <stdint.h>

enum { MOST_STEPS = 24, MOST_THREADS = 64 };

struct slot {
    int expected; /* the value of `count` behind the region; -1: not checked */
    int count;
    int plain; /* written under the protection of the construct alone */
    int next;
};

struct region {
    int size, depth, steps, cancelled;
    uint64_t seed;
    omp_lock_t lock;
    omp_nest_lock_t nest_lock;
    int locked_sum, critical_sum;
    int mark[MOST_THREADS]; /* each member writes its own, and all members read them behind a
                             * barrier */
    struct slot slot[MOST_STEPS];
};

struct member {
    struct region *region;
    int number;
    uint64_t common, own;
};

static inline unsigned draw(uint64_t *state, unsigned below) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((*state >> 33) % below);
}

/* Delays a member, sometimes a little, sometimes for long. */
static void delay(struct member *member) {
    switch (draw(&member->own, 40)) {
    case 0:
        usleep(draw(&member->own, 300));
        break;
    case 1:
    case 2:
        sched_yield();
        break;
    case 3:
        for (volatile unsigned i = draw(&member->own, 3000); i > 0; i--) continue;
        break;
    default:
        break;
    }
}

static void delay_task(unsigned number) {
    if (number % 64 == 1)
        usleep(50);
    else if (number % 16 == 1)
        sched_yield();
}

/* Opens a region of this size and seed; defined in stress.c. */
static void run_region(int size, int depth, uint64_t seed);

#endif
