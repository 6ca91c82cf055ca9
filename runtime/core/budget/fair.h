/* A number that is shared out fairly: everybody gets what he asks for, up to the level at which
 * nothing is left. So who asks for little gets it, and all others get the same. */
#ifndef CST_CORE_BUDGET_FAIR_H
#define CST_CORE_BUDGET_FAIR_H

#include <stdbool.h>
#include <stdint.h>

/* What one that asks for `least` to `most` has at a level. */
static inline uint32_t cst_fair_at(uint32_t level, uint32_t least, uint32_t most) {
    uint32_t given = level < most ? level : most;
    return given > least ? given : least;
}

/* The highest level up to `total` that `fits`, which is false above it; 0 may not fit either. */
static inline uint32_t cst_fair_level(uint32_t total, bool (*fits)(const void *about, uint32_t),
                                      const void *about) {
    uint32_t fitting = 0, beyond = total + 1;
    while (beyond - fitting > 1) {
        uint32_t middle = fitting + (beyond - fitting) / 2;
        if (fits(about, middle))
            fitting = middle;
        else
            beyond = middle;
    }
    return fitting;
}

#endif
