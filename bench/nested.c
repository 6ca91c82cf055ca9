/* nested.c: the cost of a region inside a region.
 *
 * -t is the size of both levels, so -t 2 is "2 x 2". Figures are nanoseconds per outer region. The
 * case inner has nanoseconds per inner region, in an outer region that stays open.
 */
#include "bench.h"

#include <omp.h>

static void nested(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) {
        int members = 0;
#pragma omp parallel num_threads(b->threads) reduction(+ : members)
        {
            int mine = 0;
#pragma omp parallel num_threads(b->threads) reduction(+ : mine)
            mine += 1;
            members += mine;
        }
        bench_equal("nested", members, b->threads * b->threads);
    }
}

static void nested_inner(const struct bench *b, long n) {
#pragma omp parallel num_threads(b->threads)
    for (long i = 0; i < n; i++) {
#pragma omp parallel num_threads(b->threads)
        bench_keep();
    }
}

static void nested_barrier(const struct bench *b, long n) {
#pragma omp parallel num_threads(b->threads)
#pragma omp parallel num_threads(b->threads)
    for (long i = 0; i < n; i++) {
#pragma omp barrier
    }
}

/* The master opens an inner region while the others wait: the cores are free for it. */
static void nested_master(const struct bench *b, long n) {
#pragma omp parallel num_threads(b->threads)
    {
#pragma omp master
        for (long i = 0; i < n; i++) {
#pragma omp parallel num_threads(b->threads)
            bench_keep();
        }
    }
}

static void flat(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) {
#pragma omp parallel num_threads(b->threads * b->threads)
        bench_keep();
    }
}

/* One active level only: the inner region is serialized. */
static void serialized(const struct bench *b, long n) {
    omp_set_max_active_levels(1);
#pragma omp parallel num_threads(b->threads)
    for (long i = 0; i < n; i++) {
#pragma omp parallel num_threads(b->threads)
        bench_keep();
    }
    omp_set_max_active_levels(2);
}

int main(int argc, char **argv) {
    struct bench arguments = bench_arguments(argc, argv), *b = &arguments;
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    bench_case(b, "nested", nested, 1);
    bench_amortize(b, nested);
    bench_case(b, "inner", nested_inner, 1);
    bench_case(b, "inner-barrier", nested_barrier, 1);
    bench_case(b, "inner-of-master", nested_master, 1);
    bench_case(b, "serialized", serialized, 1);
    bench_case(b, "flat-of-same-size", flat, 1);
    return 0;
}
