/* regions.c: regions that call back, like a C library, and a region that does not. */

#include <stdint.h>

/* The last `callers` members call `count` times each, while the others wait for them. Returns the
 * sum of the results, so that no call can be left out. */
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

/* Four independent chains of shifts: about four instructions a cycle, which shows if two processors
 * are halves of one core. */
static uint64_t shift(long count) {
    uint64_t a = 1, b = 2, c = 3, d = 4;
    for (long i = 0; i < count; i++) {
        a ^= a << 13, b ^= b << 13, c ^= c << 13, d ^= d << 13;
        a ^= a >> 7, b ^= b >> 7, c ^= c >> 7, d ^= d >> 7;
        /* The four numbers stay in registers, not in one vector. */
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    }
    return a ^ b ^ c ^ d;
}

/* The members that call in callback_region compute by themselves here. */
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

/* Haskell calls this function to measure a single call. */
double callback_plain(double x) {
    return x + 1;
}
