/* teamsize.c: the cost of a region if the region before it had another size.
 *
 * -t is the small size; the large one is four times that. Figures are nanoseconds per region.
 */
#include "bench.h"

#include <omp.h>
#include <stdio.h>

enum { GROWTH = 4, RANDOM_SIZES = 32 };

static void region(int size) {
    int members = 0;
#pragma omp parallel num_threads(size) reduction(+ : members)
    members += 1;
    bench_equal("team size", members, size);
}

static void constant_small(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) region(b->threads);
}

static void constant_large(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) region(GROWTH * b->threads);
}

/* The cases below count whole rounds of sizes, as half a round would contain a single size. */

static void alternate(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) region(b->threads), region(GROWTH * b->threads);
}

static void alternate_one(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) region(1), region(b->threads);
}

static void region_by_setting(int size) {
    int members = 0;
    omp_set_num_threads(size);
#pragma omp parallel reduction(+ : members)
    members += 1;
    bench_equal("set size", members, size);
}

static void by_setting(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) {
        region_by_setting(b->threads);
        region_by_setting(GROWTH * b->threads);
    }
}

static void ramp(const struct bench *b, long n) {
    int largest = GROWTH * b->threads;
    for (long i = 0; i < n; i++)
        for (int size = 1; size <= largest; size++) region(size);
}

static void random_size(const struct bench *b, long n) {
    int largest = GROWTH * b->threads;
    for (long i = 0; i < n * RANDOM_SIZES; i++)
        region(1 + (int)(bench_mix((uint64_t)i) % (uint64_t)largest));
}

int main(int argc, char **argv) {
    struct bench arguments = bench_arguments(argc, argv), *b = &arguments;
    omp_set_dynamic(0);
    bench_case(b, "constant", constant_small, 1);
    bench_case(b, "constant-4x", constant_large, 1);
    bench_case(b, "alternate", alternate, 2);
    bench_case(b, "alternate-set", by_setting, 2);
    bench_case(b, "alternate-1", alternate_one, 2);
    bench_case(b, "ramp", ramp, (double)GROWTH * b->threads);
    bench_case(b, "random", random_size, RANDOM_SIZES);
    return 0;
}
