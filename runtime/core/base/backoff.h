/* A time for which something is not tried again; twice as long if the next try fails as well. */
#ifndef CST_CORE_BASE_BACKOFF_H
#define CST_CORE_BASE_BACKOFF_H

#include "platform/atomic.h"

/* Zero: may be tried at once. Two threads may begin one at the same time: then one of two good
 * answers stays. All accesses are relaxed, as it orders nothing. */
struct cst_backoff {
    _Atomic uint64_t length; /* nanoseconds; 0: it has not begun, or what it was for is over */
    _Atomic uint64_t until;  /* by the clock */
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

/* Begins for the first length or, if that is `again`, for twice the last one. */
static inline void cst_backoff_begin(struct cst_backoff *backoff, uint64_t now, uint64_t first,
                                     uint64_t longest, bool again) {
    uint64_t length =
        again && cst_backoff_length(backoff) ? 2 * cst_backoff_length(backoff) : first;
    if (length > longest) length = longest;
    cst_store_relaxed(&backoff->length, length);
    cst_store_relaxed(&backoff->until, now + length);
}

/* What it was for is over: the next one is short. */
static inline void cst_backoff_forget(struct cst_backoff *backoff) {
    cst_store_relaxed(&backoff->length, 0);
}

#endif
