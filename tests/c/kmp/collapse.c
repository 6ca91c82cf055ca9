/* Collapsed loop nests: the code of Intel's compilers leaves their arithmetic to the runtime. The
 * test has rectangular nests, and random nests whose inner bounds depend on outer variables. Each
 * point is executed once, and one member has the last point.
 *
 * test: flags -Lbuild/lib
 * test: not clang-stock libomp 14 has none of it
 */
#include "testing.h"

#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct bounds {
    int32_t type, variable_type, comparison, outer;
    uint64_t lower, lower_by, upper, upper_by;
    int64_t step;
    uint64_t trips;
};
enum { UINT32 = 4, INT32, UINT64, INT64 };
enum { UP, DOWN, NOT_EQUAL, LESS, GREATER };

uint64_t __kmpc_process_loop_nest_rectang(void *, int, struct bounds *, int);
void __kmpc_calc_original_ivs_rectang(void *, uint64_t, const struct bounds *, uint64_t *, int);
int __kmpc_for_collapsed_init(void *, int, struct bounds *, struct bounds *, int, int *);
int __kmpc_global_thread_num(void *);

enum { DEPTH = 3, RANGE = 40 };

/* --- rectangular --------------------------------------------------------------------------- */

/* for (int i = 5; i < 9; i++) for (unsigned j = 20; j > 10; j -= 3) for (long k = -4; k != 8; k +=
 * 4) */
static void rectangular(void) {
    struct bounds nest[DEPTH] = {
        {.type = INT32, .comparison = LESS, .lower = 5, .upper = 9, .step = 1},
        {.type = UINT32, .comparison = GREATER, .lower = 20, .upper = 10, .step = -3},
        {.type = INT64, .comparison = NOT_EQUAL, .lower = (uint64_t)-4, .upper = 8, .step = 4}};
    uint64_t number = 0, at[DEPTH];
    CHECK_EQ(__kmpc_process_loop_nest_rectang(NULL, 0, nest, DEPTH), 4 * 4 * 3);
    for (int i = 5; i < 9; i++)
        for (unsigned j = 20; j > 10; j -= 3)
            for (long k = -4; k != 8; k += 4) {
                __kmpc_calc_original_ivs_rectang(NULL, number++, nest, at, DEPTH);
                CHECK_EQ((int)at[0], i);
                CHECK_EQ((unsigned)at[1], j);
                CHECK_EQ((long)at[2], k);
            }
    for (int i = 0; i < DEPTH; i++) CHECK(nest[i].comparison == UP || nest[i].comparison == DOWN);
    CHECK_EQ(nest[1].trips, 4);
    nest[1].lower = 5; /* nothing to do */
    CHECK_EQ(__kmpc_process_loop_nest_rectang(NULL, 0, nest, DEPTH), 0);
}

/* --- random nests -------------------------------------------------------------------------- */

static uint32_t seed = 1;
static int draw(int low, int high) {
    seed = seed * 1664525u + 1013904223u;
    return low + (int)((seed >> 8) % (uint32_t)(high - low + 1));
}

/* A loop in plain numbers, all well within the range of each type. */
struct plain {
    int lower, lower_by, upper, upper_by, outer, step, comparison;
};

static int begin_of(const struct plain *loop, const int *at) {
    return loop->lower + loop->lower_by * at[loop->outer];
}

static bool goes_on(const struct plain *loop, const int *at, int value) {
    int end = loop->upper + loop->upper_by * at[loop->outer];
    switch (loop->comparison) {
    case UP:
        return value <= end;
    case DOWN:
        return value >= end;
    case LESS:
        return value < end;
    case GREATER:
        return value > end;
    default:
        return value != end;
    }
}

static int depth;
static struct plain plain[DEPTH];
static int times[RANGE][RANGE][RANGE];

static void draw_nest(struct bounds *nest) {
    depth = draw(1, DEPTH);
    memset(plain, 0, sizeof plain);
    for (int i = 0; i < depth; i++) {
        struct plain *loop = &plain[i];
        bool up = draw(0, 1), depends = i > 0 && draw(0, 2) > 0;
        loop->step = (up ? 1 : -1) * draw(1, 3);
        loop->lower = up ? draw(8, 12) : draw(14, 18);
        loop->upper = up ? draw(14, 18) : draw(8, 12);
        if (depends) {
            loop->outer = draw(0, i - 1);
            if (draw(0, 1)) loop->lower_by = draw(-1, 1), loop->lower -= 12 * loop->lower_by;
            if (draw(0, 1)) loop->upper_by = draw(-1, 1), loop->upper -= 12 * loop->upper_by;
        }
        loop->comparison = up ? (draw(0, 1) ? UP : LESS) : draw(0, 1) ? DOWN : GREATER;
        if (!depends && draw(0, 3) == 0) {
            loop->step = up ? 1 : -1;
            loop->comparison = NOT_EQUAL;
        }
        int type = draw(UINT32, INT64);
        /* A program that computes with unsigned 32 bits may leave garbage in the upper half of a
         * word. */
        uint64_t rest = type < UINT64 ? UINT64_C(0x5a5a5a5a) << 32 : 0;
        uint64_t most = type < UINT64 ? UINT32_MAX : UINT64_MAX;
        nest[i] = (struct bounds){.type = type,
                                  .variable_type = type,
                                  .comparison = loop->comparison,
                                  .outer = loop->outer,
                                  .lower = ((uint64_t)loop->lower & most) | rest,
                                  .lower_by = ((uint64_t)loop->lower_by & most) | rest,
                                  .upper = ((uint64_t)loop->upper & most) | rest,
                                  .upper_by = ((uint64_t)loop->upper_by & most) | rest,
                                  .step = (int64_t)(((uint64_t)loop->step & most) | rest)};
    }
}

/* Walks like compiled code from the first point to the last, and returns 1 as soon as the last
 * point was executed. `inside`: the outer values have left those of the first point. */
static int walk(int level, int *at, const int *from, const int *to, bool inside) {
    const struct plain *loop = &plain[level];
    if (level == depth) {
        INCREMENT(&times[at[0]][depth > 1 ? at[1] : 0][depth > 2 ? at[2] : 0]);
        for (int i = 0; i < depth; i++)
            if (at[i] != to[i]) return 0;
        return 1;
    }
    at[level] = inside ? begin_of(loop, at) : from[level];
    for (; goes_on(loop, at, at[level]); at[level] += loop->step) {
        if (walk(level + 1, at, from, to, inside)) return 1;
        inside = true;
    }
    return 0;
}

/* Counts how often each point occurs, in sequential order. */
static long count(int level, int *at, int expected[RANGE][RANGE][RANGE]) {
    const struct plain *loop = &plain[level];
    long all = 0;
    if (level == depth) {
        expected[at[0]][depth > 1 ? at[1] : 0][depth > 2 ? at[2] : 0]++;
        return 1;
    }
    for (at[level] = begin_of(loop, at); goes_on(loop, at, at[level]); at[level] += loop->step)
        all += count(level + 1, at, expected);
    return all;
}

static void random_nest(int members) {
    static int expected[RANGE][RANGE][RANGE];
    struct bounds nest[DEPTH];
    int at[DEPTH] = {0}, lasts = 0, works = 0;
    draw_nest(nest);
    memset(expected, 0, sizeof expected);
    memset(times, 0, sizeof times);
    long all = count(0, at, expected);
#pragma omp parallel num_threads(members) reduction(+ : lasts, works)
    {
        struct bounds mine[DEPTH], chunk[DEPTH];
        int last = 7, here[DEPTH] = {0}, from[DEPTH], to[DEPTH];
        memcpy(mine, nest, sizeof mine);
        if (__kmpc_for_collapsed_init(NULL, __kmpc_global_thread_num(NULL), mine, chunk, depth,
                                      &last)) {
            works++;
            for (int i = 0; i < depth; i++) {
                from[i] = (int)chunk[i].lower;
                to[i] = (int)chunk[i].upper;
                CHECK_EQ(chunk[i].lower_by, 0);
                CHECK_EQ(chunk[i].upper_by, 0);
            }
            CHECK_EQ(walk(0, here, from, to, false), 1);
        }
        CHECK(last == 0 || last == 1);
        lasts += last;
    }
    CHECK_EQ(memcmp(times, expected, sizeof times), 0);
    CHECK_EQ(lasts, all > 0);
    CHECK_EQ(works, all < members ? all : members);
}

int main(void) {
    test_limit(50);
    rectangular();
    for (int i = 0; i < 400; i++) random_nest(1 + i % 5);
    return 0;
}
