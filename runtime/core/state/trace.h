/* Events for whoever listens, such as GHC's log: what the threads of OpenMP do. Where nobody
 * listens, an event costs a load and a branch. */
#ifndef CST_CORE_STATE_TRACE_H
#define CST_CORE_STATE_TRACE_H

#include "core/state/thread.h"

/* NULL: nobody listens. Set when the substrate is chosen, before there is a team. */
extern _Atomic(cst_trace_function *) cst_trace_to;

static inline bool cst_trace_is_on(void) {
    return cst_unlikely(cst_load_relaxed(&cst_trace_to) != NULL);
}

/* To be called by an entry point, whose caller it notes if somebody listens. */
#define CST_CALLED(front, source)                                                                  \
    do {                                                                                           \
        if (cst_trace_is_on()) cst_trace_called(front, __builtin_return_address(0), source);       \
    } while (0)
void cst_trace_called(enum cst_front front, const void *address, const char *source);

static inline void cst_trace(enum cst_trace_event event, const struct cst_thread *thread,
                             uint32_t size) {
    cst_trace_function *listener = cst_load_relaxed(&cst_trace_to);
    if (cst_unlikely(listener != NULL)) listener(event, thread->number, size, &thread->origin);
}

#endif
