/* What a thread has seen of its processor, for the heuristics of waiting (wait/). */
#ifndef CST_CORE_STATE_WATCH_H
#define CST_CORE_STATE_WATCH_H

#include "core/base/backoff.h"
#include "platform/platform.h"

/* Of rivals for it (wait/rival.h). */
struct cst_rival_watch {
    uint64_t looked_ns; /* clock when it looked last; 0: never */
    struct cst_thread_usage usage;
    uint32_t asked; /* the question that it answered last */
    /* How often it has waited, wrapping; and until when that was judged. */
    uint32_t waits, counted_waits;
    uint64_t counted_ns;
};

/* Of the share that it had of it (wait/apart.h). */
struct cst_apart_watch {
    uint64_t begun_ns, used_ns; /* clock and own processor time as the window began */
};

/* Of what its yields have cost (wait/yields.h). By the clock; all zero at first. */
struct cst_yields {
    uint64_t last_long;       /* the end of the last long one, or the beginning of the last try */
    uint32_t long_ones;       /* in a row */
    struct cst_backoff sleep; /* for how long it is to sleep in their place, */
    bool sleeps;              /* if it is */
};

#endif
