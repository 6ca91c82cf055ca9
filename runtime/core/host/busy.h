/* The number of threads that execute regions. The runtime assumes that each needs a processor
 * (wait/turn.h counts them). */
#ifndef CST_CORE_HOST_BUSY_H
#define CST_CORE_HOST_BUSY_H

#include "platform/atomic.h"
#include "platform/hidden.h"

/* Written by wait/turn.c alone. */
extern CST_HIDDEN _Atomic uint32_t cst_busy;

static inline uint32_t cst_busy_threads(void) {
    return cst_load_relaxed(&cst_busy);
}

#endif
