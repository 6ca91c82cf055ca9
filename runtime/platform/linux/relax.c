/* How long the processor's pause takes: from some cycles to some hundred, by model. */
#include "platform/platform.h"

enum { ROUNDS = 3, PAUSES = 32, MOST_NS = 1000 };

uint32_t cst_cpu_relax_ns(void) {
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = cst_clock_ns();
        for (int i = 0; i < PAUSES; i++) cst_cpu_relax();
        uint64_t took = cst_clock_ns() - begin;
        if (took < best) best = took;
    }
    uint64_t each = best / PAUSES;
    return each < 1 ? 1 : each > MOST_NS ? MOST_NS : (uint32_t)each;
}
