/* Processors that processes of one user share, where CAPSTAN_SHARE names a group: the threads of
 * all their regions together are about as many as there are processors.
 *
 * A region's threads take processors from the books (ledger.h) as it begins, and give them back as
 * it ends. Without CAPSTAN_SHARE both are one load. */
#ifndef CST_CORE_BUDGET_SHARE_H
#define CST_CORE_BUDGET_SHARE_H

#include "platform/atomic.h"
#include "platform/check.h"

#include <stdbool.h>
#include <stdint.h>

/* CAPSTAN_SHARE is set, and has not failed; other processes want processors that this one would
 * have. */
extern _Atomic bool cst_share_wanted, cst_share_tight;

/* The process's part of the processors as it last looked (0: never), and how many its regions have.
 */
extern _Atomic uint32_t cst_share_part, cst_share_held;

/* Takes processors for a region that is to have `threads`, and returns how many threads it may
 * have: all of them, or, if `at_most`, as many as processors were to be had; then fewer than
 * `least` are `least` - 1, and none is taken. `hold` is to be given back when the region has ended;
 * 0: nothing.
 */
uint32_t cst_share_take_some(uint32_t threads, uint32_t least, bool at_most, uint32_t *hold);
static inline uint32_t cst_share_take(uint32_t threads, uint32_t least, bool at_most,
                                      uint32_t *hold) {
    *hold = 0;
    if (cst_likely(!cst_load_relaxed(&cst_share_wanted))) return threads;
    return cst_share_take_some(threads, least, at_most, hold);
}

void cst_share_return_some(uint32_t hold);
static inline void cst_share_return(uint32_t hold) {
    if (cst_unlikely(hold != 0)) cst_share_return_some(hold);
}

/* Others want processors too: who waits is not to spin. */
static inline bool cst_share_is_tight(void) {
    return cst_load_relaxed(&cst_share_tight);
}

void cst_share_start(void);
void cst_share_end(void);
void cst_share_after_fork(void);

#endif
