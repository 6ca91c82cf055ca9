/* regions.c: regions that call back, as a C library would, and one that does not. */

#include <stdint.h>

/* `callers` members, the last ones, call `count` times each while the others wait for them. The sum
 * of what came back is returned, so that no call can be left out. */
double callback_region(double (*function)(double), int threads, int callers, long count) {
    double sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        int call = 0;
#pragma omp for schedule(static, 1)
        for (int i = 0; i < threads; i++) call = i >= threads - callers;
        if (call)
            for (long i = 0; i < count; i++) sum += function((double)i);
    }
    return sum;
}

/* Four chains of shifts that have nothing to do with each other: about four instructions a cycle,
 * so that two processors that are halves of one are seen. */
static uint64_t shift(long count) {
    uint64_t a = 1, b = 2, c = 3, d = 4;
    for (long i = 0; i < count; i++) {
        a ^= a << 13, b ^= b << 13, c ^= c << 13, d ^= d << 13;
        a ^= a >> 7, b ^= b >> 7, c ^= c >> 7, d ^= d >> 7;
        /* In registers, not in one vector. */
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    }
    return a ^ b ^ c ^ d;
}

/* The same members as in callback_region compute by themselves. */
long callback_loop(int threads, int callers, long count) {
    uint64_t result = 0;
#pragma omp parallel num_threads(threads) reduction(^ : result)
    {
#pragma omp for schedule(static, 1)
        for (int i = 0; i < threads; i++)
            if (i >= threads - callers) result ^= shift(count);
    }
    return (long)result;
}

/* What Haskell calls where one call is to be measured. */
double callback_plain(double x) {
    return x + 1;
}
