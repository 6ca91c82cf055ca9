/* The time of the processor's pause instruction: from some cycles to some hundred, by model. */
#include "platform/platform.h"

enum { ROUNDS = 3, PAUSES = 32, MOST_NS = 1000 };

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* The function subtracts the time of a clock read, which is 20 ns with some kernels and 500 ns on
 * some machines. */
uint32_t cst_cpu_relax_ns(void) {
    uint64_t look = UINT64_MAX, pauses = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t before = cst_clock_ns(), begin = cst_clock_ns();
        for (int i = 0; i < PAUSES; i++) cst_cpu_relax();
        pauses = least(pauses, cst_clock_ns() - begin);
        look = least(look, begin - before);
    }
    uint64_t each = pauses > look ? (pauses - look) / PAUSES : 0;
    return each < 1 ? 1 : each > MOST_NS ? MOST_NS : (uint32_t)each;
}
