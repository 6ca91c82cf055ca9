/* Entry points that clang 14 never calls, or never with such arguments. The test calls them by
 * their prototypes, like Intel's compilers and later clangs.
 *
 * test: flags -Lbuild/lib
 * test: not clang-stock libomp 14 has fewer
 */
#include "testing.h"

#include <limits.h>
#include <omp.h>
#include <stdint.h>
#include <string.h>

struct loc {
    int32_t reserved1, flags, reserved2, reserved3;
    const char *source;
};
static struct loc loc = {0, 2, 0, 0, ";file;function;1;1;;"};

#define LOOPS(suffix, type, step)                                                                  \
    void __kmpc_dispatch_init_##suffix(struct loc *, int, int, type, type, step, step);            \
    int __kmpc_dispatch_next_##suffix(struct loc *, int, int *, type *, type *, step *);           \
    void __kmpc_for_static_init_##suffix(struct loc *, int, int, int *, type *, type *, step *,    \
                                         step, step);
LOOPS(4, int32_t, int32_t)
LOOPS(4u, uint32_t, int32_t)
LOOPS(8, int64_t, int64_t)
LOOPS(8u, uint64_t, int64_t)
int __kmpc_global_thread_num(struct loc *);
void __kmpc_fork_call_if(struct loc *, int, void (*)(int *, int *, void *), int, void *);
void __kmpc_sections_init(struct loc *, int);
int __kmpc_next_section(struct loc *, int, int);
void __kmpc_end_sections(struct loc *, int);
void *__kmpc_copyprivate_light(struct loc *, int, void *);
void __kmpc_init_lock(struct loc *, int, void **);
void __kmpc_set_lock(struct loc *, int, void **);
void __kmpc_unset_lock(struct loc *, int, void **);
int __kmpc_test_lock(struct loc *, int, void **);
void __kmpc_init_nest_lock(struct loc *, int, void **);
int __kmpc_test_nest_lock(struct loc *, int, void **);
void __kmpc_destroy_nest_lock(struct loc *, int, void **);
void __kmpc_doacross_init(struct loc *, int, int, int64_t *);
void __kmpc_doacross_post(struct loc *, int, int64_t *);
void __kmpc_doacross_wait(struct loc *, int, int64_t *);
void __kmpc_doacross_fini(struct loc *, int);
void __kmpc_atomic_fixed4_add(struct loc *, int, int32_t *, int32_t);
int32_t __kmpc_atomic_fixed4_add_cpt(struct loc *, int, int32_t *, int32_t, int);
void __kmpc_atomic_fixed1_shl_rev(struct loc *, int, int8_t *, int8_t);
void __kmpc_atomic_fixed8_max(struct loc *, int, int64_t *, int64_t);
void __kmpc_atomic_float4_div_rev(struct loc *, int, float *, float);
double __kmpc_atomic_float8_swp(struct loc *, int, double *, double);
void __kmpc_atomic_float10_add(struct loc *, int, long double *, long double);
void __kmpc_atomic_cmplx8_mul(struct loc *, int, _Complex double *, _Complex double);
void __kmpc_atomic_cmplx4_add_cpt(struct loc *, int, _Complex float *, _Complex float,
                                  _Complex float *, int);
void __kmpc_atomic_fixed4u_div(struct loc *, int, uint32_t *, uint32_t);
void __kmpc_atomic_fixed2_mul_float8(struct loc *, int, int16_t *, double);
_Bool __kmpc_atomic_bool_8_cas(struct loc *, int, int64_t *, int64_t, int64_t);

static int thread(void) {
    return __kmpc_global_thread_num(&loc);
}

/* --- loops: each schedule, each type, at the ends of its range ------------------------------ */

enum { MOST = 200 };
static int times[MOST];

/* The loops with this type: from `low` to `high` by `step`, each iteration once. */
#define LOOP(suffix, type, step_type, low, high, by, trips, schedule, chunk)                       \
    do {                                                                                           \
        int ends = 0;                                                                              \
        memset(times, 0, sizeof times);                                                            \
        _Pragma("omp parallel num_threads(4) reduction(+ : ends)") {                               \
            type lower, upper;                                                                     \
            step_type stride = 0;                                                                  \
            int last = 0;                                                                          \
            __kmpc_dispatch_init_##suffix(&loc, thread(), schedule, low, high, by, chunk);         \
            while (                                                                                \
                __kmpc_dispatch_next_##suffix(&loc, thread(), &last, &lower, &upper, &stride)) {   \
                CHECK_EQ(stride, by);                                                              \
                uint64_t first = ((uint64_t)lower - (uint64_t)(low)) / (uint64_t)(by);             \
                uint64_t end = ((uint64_t)upper - (uint64_t)(low)) / (uint64_t)(by);               \
                if ((by) < 0) {                                                                    \
                    first = ((uint64_t)(low) - (uint64_t)lower) / (0 - (uint64_t)(by));            \
                    end = ((uint64_t)(low) - (uint64_t)upper) / (0 - (uint64_t)(by));              \
                }                                                                                  \
                for (uint64_t i = first; i <= end && i < MOST; i++) INCREMENT(&times[i]);          \
            }                                                                                      \
            ends += last;                                                                          \
        }                                                                                          \
        for (int i = 0; i < MOST; i++) CHECK_EQ(times[i], i < (trips));                            \
        CHECK_EQ(ends, (trips) > 0);                                                               \
    } while (0)

static void dispatch(int schedule, int chunk) {
    LOOP(4, int32_t, int32_t, 0, 99, 1, 100, schedule, chunk);
    LOOP(4, int32_t, int32_t, INT_MAX - 99, INT_MAX, 1, 100, schedule, chunk);
    LOOP(4, int32_t, int32_t, INT_MIN + 300, INT_MIN, -3, 101, schedule, chunk);
    LOOP(4, int32_t, int32_t, 5, 4, 1, 0, schedule, chunk);
    LOOP(4u, uint32_t, int32_t, UINT_MAX - 100, UINT_MAX, 2, 51, schedule, chunk);
    LOOP(4u, uint32_t, int32_t, 100, 0, -1, 101, schedule, chunk);
    LOOP(8, int64_t, int64_t, LONG_MAX - 99, LONG_MAX, 1, 100, schedule, chunk);
    LOOP(8, int64_t, int64_t, LONG_MIN + 70, LONG_MIN, -7, 11, schedule, chunk);
    LOOP(8u, uint64_t, int64_t, ULONG_MAX - 99, ULONG_MAX, 1, 100, schedule, chunk);
    LOOP(8u, uint64_t, int64_t, 99, 0, -1, 100, schedule, chunk);
}

/* The schedule static, in blocks and in chunks: each iteration runs once, and the member of the
 * last iteration is told so. */
static void shared_out(int schedule, int chunk, int high) {
    int ends = 0;
    memset(times, 0, sizeof times);
#pragma omp parallel num_threads(4) reduction(+ : ends)
    {
        int32_t lower = 0, upper = high, stride = 1, last = 0;
        __kmpc_for_static_init_4(&loc, thread(), schedule, &last, &lower, &upper, &stride, 1,
                                 chunk);
        CHECK(stride > 0);
        for (; lower <= high; lower += stride, upper += stride) {
            for (int i = lower; i <= upper && i <= high; i++) INCREMENT(&times[i]);
            if (schedule == 34) break;
        }
        ends += last;
    }
    for (int i = 0; i < MOST; i++) CHECK_EQ(times[i], i <= high);
    CHECK_EQ(ends, high >= 0);
}

/* --- the rest ------------------------------------------------------------------------------ */

static void add_member(int *number, int *unused, void *data) {
    (void)number, (void)unused;
    INCREMENT((int *)data);
}

static void fork_if(void) {
    int members = 0;
    omp_set_num_threads(3);
    __kmpc_fork_call_if(&loc, 1, add_member, 1, &members);
    CHECK_EQ(members, 3);
    __kmpc_fork_call_if(&loc, 1, add_member, 0, &members);
    CHECK_EQ(members, 4);
}

static void sections(void) {
    memset(times, 0, sizeof times);
#pragma omp parallel num_threads(3)
    {
        int next;
        __kmpc_sections_init(&loc, thread());
        while ((next = __kmpc_next_section(&loc, thread(), 10)) < 10) INCREMENT(&times[next]);
        __kmpc_end_sections(&loc, thread());
    }
    for (int i = 0; i < MOST; i++) CHECK_EQ(times[i], i < 10);
}

static void copyprivate(void) {
    int wrong = 0, value = 77;
#pragma omp parallel num_threads(3) reduction(+ : wrong)
    for (int round = 0; round < 100; round++) {
        int mine = round % 3 == omp_get_thread_num();
        int *got = __kmpc_copyprivate_light(&loc, thread(), mine ? &value : NULL);
        wrong += got != &value;
#pragma omp barrier
    }
    CHECK_EQ(wrong, 0);
}

static void locks(void) {
    void *lock = NULL, *nested = NULL;
    long sum = 0;
    __kmpc_init_lock(&loc, thread(), &lock);
    __kmpc_init_nest_lock(&loc, thread(), &nested);
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 500; i++) {
        __kmpc_set_lock(&loc, thread(), &lock);
        sum++;
        __kmpc_unset_lock(&loc, thread(), &lock);
    }
    CHECK_EQ(sum, 2000);
    CHECK_EQ(__kmpc_test_lock(&loc, thread(), &lock), 1);
    CHECK_EQ(__kmpc_test_lock(&loc, thread(), &lock), 0);
    CHECK_EQ(__kmpc_test_nest_lock(&loc, thread(), &nested), 1);
    CHECK_EQ(__kmpc_test_nest_lock(&loc, thread(), &nested), 2);
    __kmpc_destroy_nest_lock(&loc, thread(), &nested);
}

/* The outer loop goes from 10 to 100 in steps of 3, the inner loop backwards; the chunks are
 * dynamic. */
static void doacross(void) {
    enum { OUTER = 31, INNER = 5 };
    static int done[OUTER][INNER];
    int wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    {
        int64_t nest[] = {10, 100, 3, 8, 0, -2};
        int32_t lower, upper, stride;
        int last;
        __kmpc_doacross_init(&loc, thread(), 2, nest);
        __kmpc_dispatch_init_4(&loc, thread(), 35, 10, 100, 3, 2);
        while (__kmpc_dispatch_next_4(&loc, thread(), &last, &lower, &upper, &stride))
            for (int64_t i = lower; i <= upper; i += 3)
                for (int64_t j = 8; j >= 0; j -= 2) {
                    int64_t sink[] = {i - 3, j}, before[] = {i, j + 2}, source[] = {i, j};
                    int a = (int)(i - 10) / 3, b = (int)(8 - j) / 2;
                    __kmpc_doacross_wait(&loc, thread(), sink);
                    __kmpc_doacross_wait(&loc, thread(), before);
                    if (a > 0) wrong += GET(&done[a - 1][b]) != 1;
                    if (b > 0) wrong += GET(&done[a][b - 1]) != 1;
                    if ((a + b) % 5 == 0) sched_yield();
                    INCREMENT(&done[a][b]);
                    __kmpc_doacross_post(&loc, thread(), source);
                }
        __kmpc_doacross_fini(&loc, thread());
    }
    CHECK_EQ(wrong, 0);
    for (int i = 0; i < OUTER * INNER; i++) CHECK_EQ(done[i / INNER][i % INNER], 1);
    memset(done, 0, sizeof done);
}

static void atomics(void) {
    int32_t sum = 0;
    int64_t most = -5;
    long double real = 0;
    _Complex double factor = 1;
    _Complex float z = 0, out;
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 1000; i++) {
        __kmpc_atomic_fixed4_add(&loc, thread(), &sum, 2);
        __kmpc_atomic_fixed8_max(&loc, thread(), &most, i);
        __kmpc_atomic_float10_add(&loc, thread(), &real, 0.5L);
        __kmpc_atomic_cmplx8_mul(&loc, thread(), &factor, i % 2 ? 2.0 : 0.5);
    }
    CHECK_EQ(sum, 8000);
    CHECK_EQ(most, 999);
    CHECK(real == 2000.0L && factor == 1);
    CHECK_EQ(__kmpc_atomic_fixed4_add_cpt(&loc, 0, &sum, 1, 0), 8000);
    CHECK_EQ(__kmpc_atomic_fixed4_add_cpt(&loc, 0, &sum, 1, 1), 8002);
    int8_t shift = 3;
    __kmpc_atomic_fixed1_shl_rev(&loc, 0, &shift, 1); /* 1 << 3 */
    CHECK_EQ(shift, 8);
    float part = 4;
    __kmpc_atomic_float4_div_rev(&loc, 0, &part, 1); /* 1 / 4 */
    CHECK(part == 0.25f);
    double old = 1.5;
    CHECK(__kmpc_atomic_float8_swp(&loc, 0, &old, 2.5) == 1.5 && old == 2.5);
    __kmpc_atomic_cmplx4_add_cpt(&loc, 0, &z, 2, &out, 1);
    CHECK(out == 2 && z == 2);
    uint32_t large = 4000000000u;
    __kmpc_atomic_fixed4u_div(&loc, 0, &large, 2);
    CHECK_EQ(large, 2000000000u);
    int16_t scaled = 10;
    __kmpc_atomic_fixed2_mul_float8(&loc, 0, &scaled, 2.5);
    CHECK_EQ(scaled, 25);
    CHECK(!__kmpc_atomic_bool_8_cas(&loc, 0, &most, 5, 6));
    CHECK(__kmpc_atomic_bool_8_cas(&loc, 0, &most, 999, 6) && most == 6);
}

int main(void) {
    test_limit(50);
    static const int schedules[] = {33, 34, 35, 36, 38, 39, 40, 41, 44, 65, 66, 67, 68};
    for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++)
        for (int chunk = 1; chunk < 40; chunk += 19) dispatch(schedules[i], chunk);
    dispatch(35 | 1 << 30, 7); /* nonmonotonic */
    for (int high = -1; high < 20; high++) {
        shared_out(34, 0, high);
        shared_out(33, 3, high);
    }
    fork_if();
    sections();
    copyprivate();
    locks();
    for (int round = 0; round < 20; round++) doacross();
    atomics();
    return 0;
}
