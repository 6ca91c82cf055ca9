/* Divides a number fairly: each claimant gets the number that it asks for, up to a common level at
 * which the whole is used up. A claimant that asks for less than the level gets its number; all
 * others get the level. */
#ifndef CST_CORE_BUDGET_FAIR_H
#define CST_CORE_BUDGET_FAIR_H

#include <stdbool.h>
#include <stdint.h>

/* The share, at a level, of a claimant that asks for `least` to `most`. */
static inline uint32_t cst_fair_at(uint32_t level, uint32_t least, uint32_t most) {
    uint32_t given = level < most ? level : most;
    return given > least ? given : least;
}

/* The highest level up to `total` that fits. `fits` is false for all levels above it. The answer is
 * 0 also if 0 does not fit. */
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
