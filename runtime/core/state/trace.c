/* The origin of calls; see trace.h. */
#include "core/state/trace.h"

_Atomic(cst_trace_function *) cst_trace_to;

void cst_trace_called(enum cst_front front, const void *address, const char *source) {
    cst_self()->origin = (struct cst_origin){front, address, source};
}
