/* The memory of teams and seats; see team.h. */
#include "core/team/team.h"

#include "core/base/bounds.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SEATS = 8 };

uint32_t cst_team_few[2] = {16, UINT32_MAX};

void cst_seat_init(struct cst_seat *seat, struct cst_team *team, uint32_t number) {
    memset(seat, 0, sizeof *seat);
    seat->team = team;
    seat->number = number;
}

bool cst_team_enlarge(struct cst_team *team, uint32_t seats) {
    uint32_t length = team->seats_length ? team->seats_length : FIRST_SEATS;
    if (seats <= team->seats_length) return true;
    if (seats > CST_MOST_THREADS) return false;
    while (length < seats) length *= 2; /* so the length stays in its type */
    struct cst_seat **old = cst_load_relaxed(&team->seats);
    struct cst_seat **new = calloc(length + 1, sizeof *new);
    if (!new) return false;
    if (old) memcpy(new + 1, old, team->seats_length * sizeof *new);
    /* The old array stays, linked from the front of the new one: a slow thief may still read it. */
    new[0] = (void *)old;
    cst_store_release(&team->seats, new + 1);
    team->seats_length = length;
    return true;
}

bool cst_team_init(struct cst_team *team) {
    memset(team, 0, sizeof *team);
    cst_seat_init(&team->first, team, 0);
    if (!cst_team_enlarge(team, FIRST_SEATS)) return false;
    cst_load_relaxed(&team->seats)[0] = &team->first;
    team->size = 1;
    /* The first region is 1: in region 0 workers would find the team cancelled and full of tasks,
     * as both fields are 0. */
    team->region = team->first.region = 1;
    cst_store_relaxed(&team->capacity, 1);
    return true;
}

struct cst_team *cst_team_make(void) {
    struct cst_team *team = aligned_alloc(CST_CACHE_LINE, sizeof *team);
    if (team && cst_team_init(team)) return team;
    free(team);
    return NULL;
}
