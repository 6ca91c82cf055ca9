/* Processors that the processes of one user share, if CAPSTAN_SHARE names a group. The regions of
 * all these processes together have about one thread for each processor.
 *
 * A region's threads take processors from the books (ledger.h) as it begins, and give them back as
 * it ends. Without CAPSTAN_SHARE, each of the two costs one load. */
#ifndef CST_CORE_BUDGET_SHARE_H
#define CST_CORE_BUDGET_SHARE_H

#include "platform/atomic.h"
#include "platform/check.h"
#include "platform/hidden.h"

#include <stdbool.h>
#include <stdint.h>

/* Wanted: CAPSTAN_SHARE is set, and has not failed. Tight: other processes want processors that
 * this one would have. */
extern CST_HIDDEN _Atomic bool cst_share_wanted, cst_share_tight;

/* The process's part of the processors at its last look (0: never), and the number that its regions
 * have. */
extern CST_HIDDEN _Atomic uint32_t cst_share_part, cst_share_held;

/* Takes processors for a region that asks for `threads`, and returns the number of threads that it
 * may have. That number is `threads`, or, if `at_most`, the number of free processors. If `at_most`
 * and fewer than `least` are free, it takes none and returns `least` - 1. The caller gives `hold`
 * back when the region has ended; 0: nothing. */
uint32_t cst_share_take_some(uint32_t threads, uint32_t least, bool at_most, uint32_t *hold);
static inline uint32_t cst_share_take(uint32_t threads, uint32_t least, bool at_most,
                                      uint32_t *hold) {
    *hold = 0;
    if (cst_likely(!cst_load_relaxed(&cst_share_wanted))) return threads;
    return cst_share_take_some(threads, least, at_most, hold);
}

/* The number of threads, at most `threads` and at least 1, of a region that the caller is about to
 * open. The process counts as one that wants processors. Takes no lock. Before the process's first
 * region the answer is `threads`. */
uint32_t cst_share_expect(uint32_t threads);

void cst_share_return_some(uint32_t hold);
static inline void cst_share_return(uint32_t hold) {
    if (cst_unlikely(hold != 0)) cst_share_return_some(hold);
}

/* Do other processes want processors too? Then waiting threads shall not spin. */
static inline bool cst_share_is_tight(void) {
    return cst_load_relaxed(&cst_share_tight);
}

void cst_share_start(void);
void cst_share_end(void);
void cst_share_after_fork(void);

#endif
