/* The memory of teams and seats. It is never freed. */
#ifndef CST_CORE_TEAM_TEAM_H
#define CST_CORE_TEAM_TEAM_H

#include "core/state/team.h"

/* Prepares a team's own fields, once. False: no memory for its array of seats. */
bool cst_team_init(struct cst_team *team);
/* A team of one seat; NULL: no memory. */
struct cst_team *cst_team_make(void);
/* Makes the array of seats at least `seats` long, by doubling. False: no memory, or more seats than
 * CST_MOST_THREADS; nothing has changed. */
bool cst_team_enlarge(struct cst_team *team, uint32_t seats);
void cst_seat_init(struct cst_seat *seat, struct cst_team *team, uint32_t number);

#endif
