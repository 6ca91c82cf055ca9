/* Regions inside the chunks of a loop: each ends in the middle of the loop of its master. The loop
 * may be one of a region, or of no region at all. The regions have loops of their own, or none. */
#include "testing.h"

#include <omp.h>

enum { N = 60, INNER = 13 };

static int inner_sum(int threads, int with_loop) {
    int sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        if (with_loop) {
#pragma omp for schedule(dynamic, 2)
            for (int i = 0; i < INNER; i++) sum += i;
        } else if (omp_get_thread_num() == 0) {
            sum += INNER * (INNER - 1) / 2;
        }
    }
    return sum;
}

/* Executes each iteration once, and its region in it. */
static void check(const int *times, const int *sums) {
    for (int i = 0; i < N; i++) {
        CHECK_EQ(times[i], 1);
        CHECK_EQ(sums[i], INNER * (INNER - 1) / 2);
    }
}

#define LOOP(...)                                                                                  \
    do {                                                                                           \
        int times[N] = {0}, sums[N] = {0};                                                         \
        __VA_ARGS__                                                                                \
        for (int i = 0; i < N; i++) {                                                              \
            sums[i] = inner_sum(threads, i % 2);                                                   \
            times[i]++;                                                                            \
        }                                                                                          \
        check(times, sums);                                                                        \
    } while (0)

static void outside_regions(int threads) {
    LOOP(_Pragma("omp for schedule(dynamic, 1)"));
    LOOP(_Pragma("omp for schedule(dynamic, 7)"));
    LOOP(_Pragma("omp for schedule(guided)"));
    LOOP(_Pragma("omp for schedule(runtime)"));
    LOOP(_Pragma("omp for schedule(static, 3) ordered"));
}

static void in_regions(int threads) {
    LOOP(_Pragma("omp parallel for num_threads(3) schedule(dynamic, 1)"));
    LOOP(_Pragma("omp parallel for num_threads(2) schedule(dynamic, 7)"));
    LOOP(_Pragma("omp parallel for num_threads(3) schedule(guided)"));
    LOOP(_Pragma("omp parallel for num_threads(2) schedule(static, 3) ordered"));
    LOOP(_Pragma("omp parallel for num_threads(1) schedule(dynamic, 2)"));
}

int main(void) {
    omp_set_max_active_levels(3);
    for (int threads = 1; threads <= 3; threads++) {
        outside_regions(threads);
        in_regions(threads);
        outside_regions(threads);
    }
    return 0;
}
