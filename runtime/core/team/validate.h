/* The invariants of a team whose region has ended and whose master still has the lease. In builds
 * with all checks (platform/check.h), a violation ends the process. Other builds do not check. */
#ifndef CST_CORE_TEAM_VALIDATE_H
#define CST_CORE_TEAM_VALIDATE_H

#include "core/state/team.h"
#include "platform/check.h"

#if CST_CHECK_LEVEL >= 2
/* Reads each seat. Called by the master of a region of several members that have all arrived. */
void cst_team_validate(struct cst_team *team);
#else
static inline void cst_team_validate(struct cst_team *team) {
    (void)team;
}
#endif

#endif
