/* A wait for a step that takes its thread some nanoseconds, unless it has lost its processor: to
 * set a slot up, to take a chunk out of a node. Too short to sleep, and no condition of a team's.
 */
#ifndef CST_CORE_WAIT_OWNER_H
#define CST_CORE_WAIT_OWNER_H

#include "core/wait/policy.h"
#include "platform/platform.h"

/* Between two looks; `polls` counts them, and is 0 at first. */
static inline void cst_wait_for_owner(uint32_t *polls) {
    if (++*polls < cst_policy.owner_polls) {
        cst_cpu_relax();
    } else {
        *polls = 0;
        cst_yield();
    }
}

#endif
