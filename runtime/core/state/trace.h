/* Events for GHC's log, while one is written: what the threads of OpenMP do, beside what those of
 * Haskell do. Where none is written, an event costs a load and a branch. */
#ifndef CST_CORE_STATE_TRACE_H
#define CST_CORE_STATE_TRACE_H

#include "core/state/thread.h"
#include "substrate/substrate.h"

/* NULL: nobody listens. Set when the substrate is chosen, before there is a team. */
extern _Atomic(cst_trace_function *) cst_trace_to;

static inline bool cst_trace_is_on(void) {
    return cst_unlikely(cst_load_relaxed(&cst_trace_to) != NULL);
}

static inline void cst_trace(enum cst_trace_event event, const struct cst_thread *thread,
                             uint32_t size) {
    cst_trace_function *listener = cst_load_relaxed(&cst_trace_to);
    if (cst_unlikely(listener != NULL)) listener(event, thread->number, size);
}

#endif
