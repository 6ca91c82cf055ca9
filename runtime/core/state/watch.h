/* A thread's observations of its processor, for the heuristics of waiting (wait/). */
#ifndef CST_CORE_STATE_WATCH_H
#define CST_CORE_STATE_WATCH_H

#include "core/base/backoff.h"
#include "platform/platform.h"

/* Of rivals for the processor (wait/rival.h). */
struct cst_rival_watch {
    uint64_t looked_ns; /* clock at the last look; 0: never */
    struct cst_thread_usage usage;
    uint32_t asked; /* the last question that it answered */
    bool ourselves; /* at the last look the runtime's own threads wanted more than all processors */
    /* The number of its waits, which wraps; that number, and the clock, at the last evaluation. */
    uint32_t waits, counted_waits;
    uint64_t counted_ns;
};

/* Of the thread's share of the processor (wait/apart.h). */
struct cst_apart_watch {
    uint64_t begun_ns, used_ns; /* clock and own processor time as the window began */
};

/* Of the cost of yields (wait/yields.h). Times are by the clock; all fields begin as zero. */
struct cst_yields {
    uint64_t last_long;       /* end of the last long yield, or begin of the last try */
    uint32_t long_ones;       /* long yields in a row */
    struct cst_backoff sleep; /* the time to sleep instead of yielding, */
    bool sleeps;              /* while this is set */
};

/* Of its questions for the number of threads (wait/announce.h, wait/turn.c). */
struct cst_asking {
    bool asked;     /* since its last region began, */
    uint32_t site;  /* last at this place in the code, */
    uint64_t since; /* at this time; 0: not timed, */
    bool vain;      /* and waited there in vain */
    uint32_t era;   /* of its announcement, plus 1; 0: none, or the region has begun */
    uint32_t told;  /* its last answer, if that is a promise (team/size.h); 0: none */
};

/* Of the time in which a line comes from another processor (wait/patience.h). */
struct cst_patience {
    uint32_t waits;  /* patient waits so far, which wraps */
    uint32_t mean;   /* mean time of a fetch, in parts of a pause */
    uint32_t pauses; /* from poll to poll; 0: no fetch has been timed */
};

#endif
