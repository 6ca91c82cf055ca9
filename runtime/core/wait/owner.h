/* A wait for a step that another thread takes in some nanoseconds, unless it has lost its
 * processor. Such steps set a slot up, or take a chunk out of a node. The wait is too short for a
 * sleep, and its condition is not a team's. */
#ifndef CST_CORE_WAIT_OWNER_H
#define CST_CORE_WAIT_OWNER_H

#include "core/wait/policy.h"
#include "platform/platform.h"

/* Called between two polls. `polls` counts them, and is 0 at first. */
static inline void cst_wait_for_owner(uint32_t *polls) {
    if (++*polls < cst_policy.owner_polls) {
        cst_cpu_relax();
    } else {
        *polls = 0;
        cst_yield();
    }
}

#endif
