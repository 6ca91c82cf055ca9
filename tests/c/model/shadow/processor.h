/* Replaces the header of a real processor: a turn of a spin loop is a step of the explorer, and the
 * counter is the explorer's clock. */
#ifndef CST_PROCESSOR_H
#define CST_PROCESSOR_H

#include "explore.h"

static inline void cst_cpu_relax(void) {
    explore_spin(EXPLORE_HERE);
}

static inline void cst_cpu_settle(void) {}

static inline void cst_prefetch_to_write(const _Atomic uint32_t *word) {
    (void)word;
}

static inline uint64_t cst_clock_ticks(void) {
    return explore_ticks();
}

static inline uint64_t cst_clock_ticks_in_order(void) {
    return cst_clock_ticks();
}

static inline uint64_t cst_float_mode(void) {
    return 0;
}

static inline void cst_float_set_mode(uint64_t mode) {
    (void)mode;
}

static inline uintptr_t cst_valgrind_ask(const uintptr_t words[6]) {
    (void)words;
    return 0;
}

#endif
