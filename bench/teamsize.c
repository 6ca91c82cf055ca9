/* teamsize.c: what does a region cost when the one before it had another size?
 *
 * -t is the small size; the large one is four times that. Figures are nanoseconds per region.
 */
#include "bench.h"

#include <omp.h>
#include <stdio.h>

enum { GROWTH = 4 };

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

static void alternate(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) region(i % 2 ? GROWTH * b->threads : b->threads);
}

static void alternate_one(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) region(i % 2 ? b->threads : 1);
}

static void by_setting(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) {
        int members = 0, size = i % 2 ? GROWTH * b->threads : b->threads;
        omp_set_num_threads(size);
#pragma omp parallel reduction(+ : members)
        members += 1;
        bench_equal("set size", members, size);
    }
}

static void ramp(const struct bench *b, long n) {
    int largest = GROWTH * b->threads;
    for (long i = 0; i < n; i++) region(1 + (int)(i % largest));
}

static void random_size(const struct bench *b, long n) {
    int largest = GROWTH * b->threads;
    for (long i = 0; i < n; i++) region(1 + (int)(bench_mix((uint64_t)i) % (uint64_t)largest));
}

int main(int argc, char **argv) {
    struct bench arguments = bench_arguments(argc, argv), *b = &arguments;
    omp_set_dynamic(0);
    bench_case(b, "constant", constant_small, 1);
    bench_case(b, "constant-4x", constant_large, 1);
    bench_case(b, "alternate", alternate, 1);
    bench_case(b, "alternate-set", by_setting, 1);
    bench_case(b, "alternate-1", alternate_one, 1);
    bench_case(b, "ramp", ramp, 1);
    bench_case(b, "random", random_size, 1);
    return 0;
}
