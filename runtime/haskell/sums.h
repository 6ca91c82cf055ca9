/* Prefix sums of numbers in memory, a block at a time.
 *
 * Integers wrap around, so signed and unsigned integers have the same sums. */
#ifndef CST_HASKELL_SUMS_H
#define CST_HASKELL_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the prefix sums of `count` numbers, beginning with `before`, and returns the last one.
 * Meanwhile adds `later_count` numbers of another block to *later_sum. `to` must not overlap `from`
 * or `later`. `past_caches`: the result is larger than the caches. */
#define CST_SUMS_DECLARE(name, type)                                                               \
    type cst_sums_##name(type *restrict to, const type *from, size_t count, type before,           \
                         const type *later, size_t later_count, type *later_sum,                   \
                         bool past_caches);

/* Visible: GHC may inline the calls into programs, which then need the names. */
#pragma GCC visibility push(default)
CST_SUMS_DECLARE(i32, uint32_t)
CST_SUMS_DECLARE(i64, uint64_t)
CST_SUMS_DECLARE(f32, float)
CST_SUMS_DECLARE(f64, double)
#pragma GCC visibility pop

#endif
