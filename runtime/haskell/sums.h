/* Prefix sums of numbers in memory, a block at a time.
 *
 * Integers wrap around, and so are the same with and without a sign. */
#ifndef CST_HASKELL_SUMS_H
#define CST_HASKELL_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the sums of `count` numbers and what comes before them, and returns the last one.
 * Meanwhile adds `later_count` numbers of another block to *later_sum. `to` overlaps nothing that
 * is read. `past_caches`: what is written is more than caches hold until it is read. */
#define CST_SUMS_DECLARE(name, type)                                                               \
    type cst_sums_##name(type *restrict to, const type *from, size_t count, type before,           \
                         const type *later, size_t later_count, type *later_sum,                   \
                         bool past_caches);

/* Visible: GHC may inline the calls into programs, which then need them by name. */
#pragma GCC visibility push(default)
CST_SUMS_DECLARE(i32, uint32_t)
CST_SUMS_DECLARE(i64, uint64_t)
CST_SUMS_DECLARE(f32, float)
CST_SUMS_DECLARE(f64, double)
#pragma GCC visibility pop

#endif
