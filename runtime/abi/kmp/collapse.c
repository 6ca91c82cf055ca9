/* Nests of loops that are collapsed into one loop, for compiled code that leaves the arithmetic to
 * the runtime, as that of Intel's compilers does. The bounds of a loop may depend on an outer
 * loop's variable.
 *
 * The runtime counts the points of a nest. Each member gets a block of them, and is told the first
 * and the last point. The count visits each iteration of a loop on whose variable an inner bound
 * depends. So it costs as much as that part of the nest without its innermost loops. */
#include "abi/kmp/facts.h"
#include "abi/kmp/note.h"
#include "abi/whole.h"
#include "core/front.h"

CST_WHOLE(kmp_collapse);

enum { MOST_LOOPS = 64 };

static bool is_signed(const struct kmp_bounds *loop) {
    return loop->type & 1;
}

/* For a loop of 32 bits, the compiled code writes only the lower half of each word. */
static uint64_t value_of(const struct kmp_bounds *loop, uint64_t word) {
    if (loop->type == KMP_BOUNDS_INT32) return (uint64_t)(int32_t)word;
    return loop->type == KMP_BOUNDS_UINT32 ? (uint32_t)word : word;
}

static uint64_t step_of(const struct kmp_bounds *loop) {
    bool is_long = loop->type >= KMP_BOUNDS_UINT64;
    return is_long ? (uint64_t)loop->step : (uint64_t)(int32_t)loop->step;
}

/* Turns the bounds into inclusive ones, whatever the program's comparison is. */
static void close_end(struct kmp_bounds *loop) {
    bool up = (int64_t)step_of(loop) > 0;
    if (loop->comparison >= KMP_BOUNDS_NOT_EQUAL) loop->upper += up ? UINT64_MAX : 1;
    loop->comparison = up ? KMP_BOUNDS_UP : KMP_BOUNDS_DOWN;
}

static uint64_t first_value(const struct kmp_bounds *loop, const uint64_t *values) {
    return value_of(loop, loop->lower + loop->lower_by * values[loop->outer]);
}

/* The number of iterations of the loop while the outer loops have these values. */
static uint64_t trips(const struct kmp_bounds *loop, const uint64_t *values) {
    uint64_t end = value_of(loop, loop->upper + loop->upper_by * values[loop->outer]);
    return cst_schedule_trip_closed(first_value(loop, values), end, step_of(loop),
                                    loop->comparison == KMP_BOUNDS_UP, is_signed(loop));
}

/* --- rectangular nests --------------------------------------------------------------------- */

uint64_t __kmpc_process_loop_nest_rectang(kmp_loc *loc, int32_t thread, struct kmp_bounds *nest,
                                          int32_t depth) {
    (void)loc, (void)thread;
    uint64_t all = 1;
    for (int32_t i = 0; i < depth; i++) {
        static const uint64_t none[MOST_LOOPS];
        close_end(&nest[i]);
        all *= nest[i].trips = trips(&nest[i], none);
    }
    return all;
}

void __kmpc_calc_original_ivs_rectang(kmp_loc *loc, uint64_t number, const struct kmp_bounds *nest,
                                      uint64_t *values, int32_t depth) {
    (void)loc;
    for (int32_t i = depth - 1; i >= 0; i--) {
        values[i] = value_of(&nest[i], nest[i].lower) + number % nest[i].trips * step_of(&nest[i]);
        number /= nest[i].trips;
    }
}

/* --- others -------------------------------------------------------------------------------- */

struct nest {
    const struct kmp_bounds *loops;
    int32_t depth;
    bool steers[MOST_LOOPS]; /* does an inner bound depend on the loop's variable? */
};

/* The number of points from the loop `level` inwards. The values of the outer loops are given; the
 * values of inner loops are overwritten. NOLINTNEXTLINE(misc-no-recursion): the nest's depth */
static uint64_t points(const struct nest *nest, int32_t level, uint64_t *values) {
    const struct kmp_bounds *loop = &nest->loops[level];
    uint64_t count = trips(loop, values), all = 0;
    if (level == nest->depth - 1 || count == 0) return count;
    values[level] = first_value(loop, values);
    if (!nest->steers[level]) return count * points(nest, level + 1, values);
    for (uint64_t i = 0; i < count; i++) {
        all += points(nest, level + 1, values);
        values[level] = value_of(loop, values[level] + step_of(loop));
    }
    return all;
}

/* Finds the values at point `number`. */
static void find(const struct nest *nest, uint64_t number, uint64_t *values) {
    for (int32_t level = 0; level < nest->depth; level++) {
        const struct kmp_bounds *loop = &nest->loops[level];
        bool innermost = level == nest->depth - 1;
        values[level] = first_value(loop, values);
        uint64_t skip = number, inner = innermost ? 1 : points(nest, level + 1, values);
        if (innermost || !nest->steers[level]) {
            skip = number / inner;
            number %= inner;
            values[level] = value_of(loop, values[level] + skip * step_of(loop));
            continue;
        }
        while (number >= inner) {
            number -= inner;
            values[level] = value_of(loop, values[level] + step_of(loop));
            inner = points(nest, level + 1, values);
        }
    }
}

static void describe(struct nest *nest, struct kmp_bounds *loops, int32_t depth) {
    *nest = (struct nest){.loops = loops, .depth = depth};
    for (int32_t i = 0; i < depth; i++) {
        close_end(&loops[i]);
        if (value_of(&loops[i], loops[i].lower_by) || value_of(&loops[i], loops[i].upper_by))
            nest->steers[loops[i].outer] = true;
    }
}

/* Returns 1 if the member has points: from the lower values in `chunk` to the upper ones. */
int32_t __kmpc_for_collapsed_init(kmp_loc *loc, int32_t thread, struct kmp_bounds *loops,
                                  struct kmp_bounds *chunk, int32_t depth, int32_t *last) {
    (void)thread;
    cst_kmp_note(loc);
    struct nest nest;
    uint64_t low[MOST_LOOPS] = {0}, high[MOST_LOOPS] = {0}, first, end;
    if (depth > MOST_LOOPS)
        cst_message_omp_fatal("Error", "%d loops are collapsed; at most %d can be", depth,
                              MOST_LOOPS);
    describe(&nest, loops, depth);
    uint64_t all = points(&nest, 0, low);
    cst_schedule_block(all, cst_ask_size(), cst_ask_number(), &first, &end);
    *last = first < end && end == all;
    if (first == end) return 0;
    find(&nest, first, low);
    find(&nest, end - 1, high);
    for (int32_t i = 0; i < depth; i++) {
        chunk[i] = loops[i];
        chunk[i].lower = low[i];
        chunk[i].upper = high[i];
        chunk[i].lower_by = chunk[i].upper_by = 0;
    }
    return 1;
}
