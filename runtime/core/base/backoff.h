/* A time for which an action is not tried again. The time doubles if the next try fails as well. */
#ifndef CST_CORE_BASE_BACKOFF_H
#define CST_CORE_BASE_BACKOFF_H

#include "platform/atomic.h"

/* Zero: the action may be tried at once. If two threads begin a time together, one of their two
 * equally good lengths remains. All accesses are relaxed, since the fields order nothing. */
struct cst_backoff {
    _Atomic uint64_t length; /* nanoseconds; 0: not begun, or forgotten */
    _Atomic uint64_t until;  /* by the caller's clock */
};

static inline uint64_t cst_backoff_length(struct cst_backoff *backoff) {
    return cst_load_relaxed(&backoff->length);
}

static inline uint64_t cst_backoff_until(struct cst_backoff *backoff) {
    return cst_load_relaxed(&backoff->until);
}

static inline bool cst_backoff_lasts(struct cst_backoff *backoff, uint64_t now) {
    return now < cst_backoff_until(backoff);
}

/* Begins a time of length `first`. If the caller tries `again`, the time is twice the last one, at
 * most `longest`. */
static inline void cst_backoff_begin(struct cst_backoff *backoff, uint64_t now, uint64_t first,
                                     uint64_t longest, bool again) {
    uint64_t length =
        again && cst_backoff_length(backoff) ? 2 * cst_backoff_length(backoff) : first;
    if (length > longest) length = longest;
    cst_store_relaxed(&backoff->length, length);
    cst_store_relaxed(&backoff->until, now + length);
}

/* The reason for waiting is gone: the next time is of the first length. */
static inline void cst_backoff_forget(struct cst_backoff *backoff) {
    cst_store_relaxed(&backoff->length, 0);
}

#endif
