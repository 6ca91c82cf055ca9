/* Events of OpenMP's threads, for a listener such as GHC's event log. Without a listener, an event
 * costs a load and a branch. */
#ifndef CST_CORE_STATE_TRACE_H
#define CST_CORE_STATE_TRACE_H

#include "core/state/thread.h"
#include "platform/hidden.h"

/* NULL: there is no listener. Set when the runtime chooses the substrate, before the first team. */
extern CST_HIDDEN _Atomic(cst_trace_function *) cst_trace_to;

static inline bool cst_trace_is_on(void) {
    return cst_unlikely(cst_load_relaxed(&cst_trace_to) != NULL);
}

/* Defines an entry point of a front end, which notes its caller while there is a listener:
 *
 *     CST_ENTRY(CST_FRONT_GOMP, bool, GOMP_cancel, (int which, bool wanted), (which, wanted)) {
 *         the body
 *     }
 *
 * Without a listener the entry point costs a compare with memory and a branch. It jumps to the copy
 * that notes, so that copy's return address is the caller's (except with -O1, which makes the jump
 * a call). */
#define CST_ENTRY(front, type, name, parameters, arguments)                                        \
    static inline __attribute__((always_inline)) type name##_body parameters;                      \
    static __attribute__((noinline, cold)) type name##_called parameters {                         \
        cst_trace_called(front, __builtin_return_address(0), NULL);                                \
        return name##_body arguments;                                                              \
    }                                                                                              \
    type name parameters {                                                                         \
        if (cst_trace_is_on()) return name##_called arguments;                                     \
        return name##_body arguments;                                                              \
    }                                                                                              \
    static inline type name##_body parameters
void cst_trace_called(enum cst_front front, const void *address, const char *source);

static inline void cst_trace(enum cst_trace_event event, const struct cst_thread *thread,
                             uint32_t size) {
    cst_trace_function *listener = cst_load_relaxed(&cst_trace_to);
    if (cst_unlikely(listener != NULL)) listener(event, thread->number, size, &thread->origin);
}

#endif
