/* The numbers of threads that want processors: those that execute regions (wait/turn.h counts
 * them), and workers that do not sleep. */
#ifndef CST_CORE_HOST_BUSY_H
#define CST_CORE_HOST_BUSY_H

#include "core/settings/config.h"
#include "platform/atomic.h"
#include "platform/hidden.h"

/* Written by wait/turn.c alone. */
extern CST_HIDDEN _Atomic uint32_t cst_busy;

static inline uint32_t cst_busy_threads(void) {
    return cst_load_relaxed(&cst_busy);
}

/* Workers that do not sleep in their docks. Written by wait/park.c and team/worker.c, and by
 * wait/turn.c after a fork. */
extern CST_HIDDEN _Atomic uint32_t cst_awake;

/* Does the number of the runtime's own threads that want processors exceed that of processors? A
 * worker without a region spins or yields for some milliseconds before it sleeps. A single team has
 * its master besides. */
static inline bool cst_busy_with_ourselves(void) {
    return cst_busy_threads() > cst_config.available ||
           cst_load_relaxed(&cst_awake) >= cst_config.available;
}

#endif
