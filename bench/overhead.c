/* overhead.c: the cost of each construct by itself.
 *
 * The constructs are those of the EPCC OpenMP microbenchmarks (J. M. Bull). Bodies are nearly
 * empty, so that a figure is the construct's own time. A figure counts an iteration of a loop, an
 * entry by any thread for critical, atomic and locks, and otherwise a construct.
 */
#include "bench.h"

#include <omp.h>

#define TEAM num_threads(b->threads)
#define LOOP 1024L /* iterations of one worksharing loop */

static void region(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) {
#pragma omp parallel TEAM
        bench_keep();
    }
}

static void region_for(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) {
#pragma omp parallel for TEAM
        for (int j = 0; j < b->threads; j++) bench_keep();
    }
}

static void region_reduction(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) {
        long sum = 0;
#pragma omp parallel TEAM reduction(+ : sum)
        sum += 1;
        bench_equal("reduction", sum, b->threads);
    }
}

static void barrier(const struct bench *b, long n) {
#pragma omp parallel TEAM
    for (long i = 0; i < n; i++) {
#pragma omp barrier
    }
}

/* A loop construct with its barrier: one iteration for each thread. */
static void construct_static(const struct bench *b, long n) {
#pragma omp parallel TEAM
    for (long i = 0; i < n; i++) {
#pragma omp for schedule(static)
        for (int j = 0; j < b->threads; j++) bench_keep();
    }
}

static void construct_dynamic(const struct bench *b, long n) {
#pragma omp parallel TEAM
    for (long i = 0; i < n; i++) {
#pragma omp for schedule(dynamic)
        for (int j = 0; j < b->threads; j++) bench_keep();
    }
}

static void construct_guided(const struct bench *b, long n) {
#pragma omp parallel TEAM
    for (long i = 0; i < n; i++) {
#pragma omp for schedule(guided)
        for (int j = 0; j < b->threads; j++) bench_keep();
    }
}

static void construct_nowait(const struct bench *b, long n) {
#pragma omp parallel TEAM
    for (long i = 0; i < n; i++) {
#pragma omp for schedule(dynamic) nowait
        for (int j = 0; j < b->threads; j++) bench_keep();
    }
}

/* Loops of LOOP iterations, each with its own schedule. */
#define LOOP_BODY(function, type, clause)                                                          \
    static void function(const struct bench *b, long n) {                                          \
        for (long i = 0; i < n; i++) {                                                             \
            long sum = 0;                                                                          \
            _Pragma("omp parallel TEAM reduction(+ : sum)") {                                      \
                long mine = 0;                                                                     \
                _Pragma(clause) for (type j = 0; j < (type)LOOP; j++) mine += (long)j;             \
                sum += mine;                                                                       \
            }                                                                                      \
            bench_equal(#function, sum, LOOP *(LOOP - 1) / 2);                                     \
        }                                                                                          \
    }

LOOP_BODY(loop_static_1, long, "omp for schedule(static, 1)")
LOOP_BODY(loop_runtime, long, "omp for schedule(runtime)")
LOOP_BODY(loop_dynamic_1, long, "omp for schedule(dynamic, 1)")
LOOP_BODY(loop_dynamic_8, long, "omp for schedule(dynamic, 8)")
LOOP_BODY(loop_monotonic_1, long, "omp for schedule(monotonic : dynamic, 1)")
LOOP_BODY(loop_unsigned_1, unsigned long long, "omp for schedule(dynamic, 1)")
LOOP_BODY(loop_guided_1, long, "omp for schedule(guided, 1)")

static void loop_runtime_static(const struct bench *b, long n) {
    omp_set_schedule(omp_sched_static, 0);
    loop_runtime(b, n);
}

/* One long loop: start and end of the loop no longer count, only the hand-out of iterations. */
static void loop_long(const struct bench *b, long n) {
    long sum = 0;
#pragma omp parallel TEAM reduction(+ : sum)
    {
        long mine = 0;
#pragma omp for schedule(dynamic, 1)
        for (long j = 0; j < n; j++) mine += j;
        sum += mine;
    }
    bench_equal("for-long-dynamic-1", sum, n * (n - 1) / 2);
}

/* Iteration j costs j / 8 ns, so an even split of the range is an uneven split of the work. */
static void loop_ramp(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) {
#pragma omp parallel for TEAM schedule(dynamic, 1)
        for (long j = 0; j < LOOP; j++) bench_work(j / 8);
    }
}

static void single(const struct bench *b, long n) {
    long done = 0;
#pragma omp parallel TEAM
    for (long i = 0; i < n; i++) {
#pragma omp single
        done++;
    }
    bench_equal("single", done, n);
}

static void single_nowait(const struct bench *b, long n) {
#pragma omp parallel TEAM
    for (long i = 0; i < n; i++) {
#pragma omp single nowait
        bench_keep();
    }
}

static void single_copy(const struct bench *b, long n) {
    long wrong = 0;
#pragma omp parallel TEAM reduction(+ : wrong)
    for (long i = 0; i < n; i++) {
        long mine = -1;
#pragma omp single copyprivate(mine)
        mine = i;
        wrong += mine != i;
    }
    bench_equal("single-copyprivate", wrong, 0);
}

static void sections(const struct bench *b, long n) {
#pragma omp parallel TEAM
    for (long i = 0; i < n; i++) {
#pragma omp sections
        {
#pragma omp section
            bench_keep();
#pragma omp section
            bench_keep();
        }
    }
}

static void critical(const struct bench *b, long n) {
    long count = 0;
#pragma omp parallel TEAM
    for (long i = 0; i < n; i++) {
#pragma omp critical
        count++;
    }
    bench_equal("critical", count, n * b->threads);
}

static void critical_named(const struct bench *b, long n) {
    long count = 0;
#pragma omp parallel TEAM
    for (long i = 0; i < n; i++) {
#pragma omp critical(of_a_name)
        count++;
    }
    bench_equal("critical-named", count, n * b->threads);
}

/* The usage of real programs: some work outside, a little inside. A lock that lets one thread enter
 * again and again gains nothing here. */
static void critical_work(const struct bench *b, long n) {
    long count = 0;
#pragma omp parallel TEAM
    for (long i = 0; i < n; i++) {
        bench_work(200);
#pragma omp critical
        {
            count++;
            bench_work(20);
        }
    }
    bench_equal("critical-work", count, n * b->threads);
}

static void lock(const struct bench *b, long n) {
    long count = 0;
    omp_lock_t l;
    omp_init_lock(&l);
#pragma omp parallel TEAM
    for (long i = 0; i < n; i++) {
        omp_set_lock(&l);
        count++;
        omp_unset_lock(&l);
    }
    omp_destroy_lock(&l);
    bench_equal("lock", count, n * b->threads);
}

static void nest_lock(const struct bench *b, long n) {
    long count = 0;
    omp_nest_lock_t l;
    omp_init_nest_lock(&l);
#pragma omp parallel TEAM
    for (long i = 0; i < n; i++) {
        omp_set_nest_lock(&l);
        count++;
        omp_unset_nest_lock(&l);
    }
    omp_destroy_nest_lock(&l);
    bench_equal("nest-lock", count, n * b->threads);
}

/* A lock that no other thread wants. */
static void lock_free(const struct bench *b, long n) {
    (void)b;
    omp_lock_t l;
    omp_init_lock(&l);
    for (long i = 0; i < n; i++) {
        omp_set_lock(&l);
        omp_unset_lock(&l);
    }
    omp_destroy_lock(&l);
}

static void atomic_add(const struct bench *b, long n) {
    double sum = 0;
#pragma omp parallel TEAM
    for (long i = 0; i < n; i++) {
#pragma omp atomic
        sum += 1;
    }
    bench_equal("atomic", (long)sum, n * b->threads);
}

/* An operand wider than any atomic instruction: the compiler calls the runtime. */
static void atomic_wide(const struct bench *b, long n) {
    long double sum = 0;
#pragma omp parallel TEAM
    for (long i = 0; i < n; i++) {
#pragma omp atomic
        sum += 1;
    }
    bench_equal("atomic-wide", (long)sum, n * b->threads);
}

static void ordered_static(const struct bench *b, long n) {
    long last = -1, wrong = 0;
#pragma omp parallel for TEAM ordered schedule(static, 1)
    for (long j = 0; j < n; j++) {
#pragma omp ordered
        {
            wrong += last != j - 1;
            last = j;
        }
    }
    bench_equal("ordered", wrong, 0);
}

static void ordered_dynamic(const struct bench *b, long n) {
    long last = -1, wrong = 0;
#pragma omp parallel for TEAM ordered schedule(dynamic, 1)
    for (long j = 0; j < n; j++) {
#pragma omp ordered
        {
            wrong += last != j - 1;
            last = j;
        }
    }
    bench_equal("ordered-dynamic", wrong, 0);
}

static void doacross(const struct bench *b, long n) {
    unsigned long chain = 0, expected = 0;
#pragma omp parallel for TEAM ordered(1) schedule(static, 1)
    for (long j = 0; j < n; j++) {
#pragma omp ordered depend(sink : j - 1)
        chain = chain * 3 + (unsigned long)j;
#pragma omp ordered depend(source)
    }
    for (long j = 0; j < n; j++) expected = expected * 3 + (unsigned long)j;
    bench_equal("doacross", (long long)chain, (long long)expected);
}

/* The call goes by a pointer, as the compiler knows the function by name and would call it once. */
static int (*volatile thread_num)(void) = omp_get_thread_num;

static void query(const struct bench *b, long n) {
    long sum = 0;
#pragma omp parallel TEAM reduction(+ : sum)
    for (long i = 0; i < n; i++) sum += thread_num();
    bench_equal("thread-num", sum, n * b->threads * (b->threads - 1) / 2);
}

int main(int argc, char **argv) {
    struct bench arguments = bench_arguments(argc, argv), *b = &arguments;
    double entries = b->threads;
    omp_set_dynamic(0);
    bench_case(b, "parallel", region, 1);
    bench_case(b, "parallel-for", region_for, 1);
    bench_case(b, "parallel-reduction", region_reduction, 1);
    bench_amortize(b, region);
    bench_case(b, "barrier", barrier, 1);
    bench_case(b, "for-static", construct_static, 1);
    bench_case(b, "for-dynamic", construct_dynamic, 1);
    bench_case(b, "for-guided", construct_guided, 1);
    bench_case(b, "for-dynamic-nowait", construct_nowait, 1);
    bench_case(b, "iteration-static-1", loop_static_1, LOOP);
    bench_case(b, "iteration-runtime-static", loop_runtime_static, LOOP);
    bench_case(b, "iteration-dynamic-1", loop_dynamic_1, LOOP);
    bench_case(b, "iteration-dynamic-8", loop_dynamic_8, LOOP);
    bench_case(b, "iteration-dynamic-1-monotonic", loop_monotonic_1, LOOP);
    bench_case(b, "iteration-dynamic-1-unsigned", loop_unsigned_1, LOOP);
    bench_case(b, "iteration-dynamic-1-long", loop_long, 1);
    bench_case(b, "iteration-guided-1", loop_guided_1, LOOP);
    bench_case(b, "loop-ramp-dynamic-1", loop_ramp, 1);
    bench_case(b, "single", single, 1);
    bench_case(b, "single-nowait", single_nowait, 1);
    bench_case(b, "single-copyprivate", single_copy, 1);
    bench_case(b, "sections", sections, 1);
    bench_case(b, "critical", critical, entries);
    bench_case(b, "critical-named", critical_named, entries);
    bench_case(b, "critical-work", critical_work, entries);
    bench_case(b, "lock", lock, entries);
    bench_case(b, "lock-uncontended", lock_free, 1);
    bench_case(b, "nest-lock", nest_lock, entries);
    bench_case(b, "atomic", atomic_add, entries);
    bench_case(b, "atomic-wide", atomic_wide, entries);
    bench_case(b, "ordered", ordered_static, 1);
    bench_case(b, "ordered-dynamic", ordered_dynamic, 1);
    bench_case(b, "thread-num", query, 1);
    bench_case(b, "doacross", doacross, 1); /* last: libomp 14 crashes here with a team of one */
    return 0;
}
