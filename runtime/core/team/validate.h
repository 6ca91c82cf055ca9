/* What must hold of a team as its region has ended, and its master has it still. In builds with all
 * checks (platform/check.h) a team that is not whole ends the process; others do not look. */
#ifndef CST_CORE_TEAM_VALIDATE_H
#define CST_CORE_TEAM_VALIDATE_H

#include "core/state/team.h"
#include "platform/check.h"

#if CST_CHECK_LEVEL >= 2
/* Looks at each seat. For the master of a region of several members that have all arrived. */
void cst_team_validate(struct cst_team *team);
#else
static inline void cst_team_validate(struct cst_team *team) {
    (void)team;
}
#endif

#endif
