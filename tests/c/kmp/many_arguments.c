/* A region's function gets one argument for each captured variable. The test has none, as many as
 * fit the registers, and many more. Each argument arrives in its place, in every member, in each of
 * many regions. */
#include "testing.h"

#include <omp.h>

static void none(void) {
    int members = 0;
#pragma omp parallel num_threads(4) default(shared)
    INCREMENT(&members);
    CHECK_EQ(members, 4);
}

/* A function relies on an aligned stack, whatever number of words lies on it. */
#define ALIGNED                                                                                    \
    do {                                                                                           \
        _Alignas(16) char local[16];                                                               \
        char *volatile address = local;                                                            \
        CHECK((unsigned long)address % 16 == 0);                                                   \
    } while (0)

/* Numbers of arguments around the limit that registers hold: 4 on x86-64, 6 on AArch64. */
static void few(long a, long b, long c, long d, long e, long f, long g) {
    long sum = 0;
#pragma omp parallel num_threads(3) firstprivate(a, b, c) reduction(+ : sum)
    {
        ALIGNED;
        sum += a + 10 * b + 100 * c;
    }
    CHECK_EQ(sum, 3 * (a + 10 * b + 100 * c));
    sum = 0;
#pragma omp parallel num_threads(3) firstprivate(a, b, c, d) reduction(+ : sum)
    {
        ALIGNED;
        sum += a + 10 * b + 100 * c + 1000 * d;
    }
    CHECK_EQ(sum, 3 * (a + 10 * b + 100 * c + 1000 * d));
    sum = 0;
#pragma omp parallel num_threads(3) firstprivate(a, b, c, d, e, f) reduction(+ : sum)
    {
        ALIGNED;
        sum += a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f;
    }
    CHECK_EQ(sum, 3 * (a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f));
    sum = 0;
#pragma omp parallel num_threads(3) firstprivate(a, b, c, d, e, f, g) reduction(+ : sum)
    {
        ALIGNED;
        sum += a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g;
    }
    CHECK_EQ(sum, 3 * (a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g));
}

#define TEN(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)
#define DECLARE(i) double x##i = start + i, y##i = start + 10 + i, z##i = start + 20 + i;
#define ADD(i) sum += (i + 1) * x##i + (i + 11) * y##i + (i + 21) * z##i;

static void many(double start) {
    TEN(DECLARE)
    double sum = 0, expected;
    TEN(ADD)
    expected = sum;
    sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {TEN(ADD)} CHECK(sum == 4 * expected);
}

/* Regions alike follow each other with other arguments, and with regions nested in them that begin
 * before the outer region's members have read theirs. */
static void inner(long value, int depth) {
    long sum = 0, other = value * 3;
#pragma omp parallel num_threads(2) firstprivate(value, other) reduction(+ : sum)
    {
        sum += value + other;
        if (depth > 0) inner(value + 1, depth - 1);
    }
    CHECK_EQ(sum, 2 * (value + other));
}

static void changing(void) {
    for (long i = 0; i < 2000; i++) {
        inner(i, i % 50 == 0 ? 2 : 0);
        few(i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6);
    }
}

int main(void) {
    test_limit(20);
    omp_set_max_active_levels(3);
    changing();
    none();
    few(1, 2, 3, 4, 5, 6, 7);
    many(0.5);
    return 0;
}
