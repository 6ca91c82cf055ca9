/* The loops of Elements.hs in C, as regions of OpenMP. Threads take blocks by demand, as
 * parallelFor has it: after a pause, some machines run one processor at half its speed for a while.
 */
#include <stdint.h>

enum { BLOCK = 2048 };

/* A step of a generator of numbers (see Elements.hs). */
static uint64_t cheap(uint64_t x) {
    return x * x + 12345;
}

/* Eight steps that no compiler simplifies (see Elements.hs). They are unrolled, as in GHC's code:
 * in a loop of eight, the time depends on how well the processor predicts its end.
 */
static uint64_t mixed(uint64_t x) {
#pragma GCC unroll 8
    for (int step = 0; step < 8; step++) x = x * x + 3;
    return x;
}

void bench_elements_generate(uint64_t *result, long count, int threads) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, BLOCK)
    for (long i = 0; i < count; i++) result[i] = cheap((uint64_t)i);
}

uint64_t bench_elements_fold(const uint64_t *numbers, long count, int threads) {
    uint64_t sum = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, BLOCK) reduction(+ : sum)
    for (long i = 0; i < count; i++) sum += cheap(numbers[i]);
    return sum;
}

void bench_elements_generate_mixed(uint64_t *result, long count, int threads) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, BLOCK)
    for (long i = 0; i < count; i++) result[i] = mixed((uint64_t)i);
}

uint64_t bench_elements_fold_mixed(const uint64_t *numbers, long count, int threads) {
    uint64_t sum = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, BLOCK) reduction(+ : sum)
    for (long i = 0; i < count; i++) sum += mixed(numbers[i]);
    return sum;
}
