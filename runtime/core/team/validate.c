/* A team that is whole; see validate.h. */
#include "core/team/validate.h"

#if CST_CHECK_LEVEL >= 2

#include "core/host/busy.h"
#include "core/wait/box.h"

static void validate_dock(struct cst_seat *seat, const struct cst_team *team, bool took_part) {
    struct cst_dock *dock = &seat->dock;
    uint32_t go = cst_load_acquire(&dock->go), parked = cst_load_relaxed(&dock->parked);
    cst_check(parked == CST_AWAKE || parked == CST_PARKED || parked == CST_PARTING);
    if (took_part) {
        cst_check(go == team->region);
        cst_check(dock->order.size == team->size && dock->order.crowded == team->crowded);
    } else {
        cst_check((int32_t)(team->region - go) > 0); /* an older region */
    }
}

/* Checks that the member has arrived, and has left nothing behind. */
static void validate_member(struct cst_seat *seat, const struct cst_team *team) {
    cst_check(seat->region == team->region && seat->size == team->size);
    cst_check(cst_deque_is_empty(&seat->deque));
    cst_check(cst_box_look(seat) == NULL);
    if (seat->number > 0 && !team->crowded)
        cst_check((cst_load_acquire(&seat->arrived) | 1) == (2 * team->region | 1));
}

static void validate_counts(struct cst_team *team) {
    uint64_t done = cst_load_relaxed(&team->foreign_done), made = 0;
    for (uint32_t i = 0; i < team->size; i++) {
        done += cst_load_relaxed(&cst_team_seat(team, i)->tasks_done);
        made += cst_load_relaxed(&cst_team_seat(team, i)->tasks_made);
    }
    cst_check(made == done);
}

void cst_team_validate(struct cst_team *team) {
    uint32_t capacity = cst_load_relaxed(&team->capacity);
    if (team->orphaned) return; /* in the child of a fork nobody else arrives */
    cst_check(cst_load_relaxed(&team->leased) == CST_LEASE_MASTER);
    cst_check(1 < team->size && team->size <= capacity && capacity <= team->seats_length);
    cst_check(cst_load_relaxed(&team->running) == team->region);
    cst_check(team->counted <= team->size && team->counted <= cst_busy_threads());
    cst_check(cst_team_seat(team, 0) == &team->first);
    if (team->crowded) cst_check(cst_load_relaxed(&team->joining) == 0);
    for (uint32_t i = 0; i < capacity; i++) {
        struct cst_seat *seat = cst_team_seat(team, i);
        cst_check(seat && seat->team == team && seat->number == i);
        if (i > 0) validate_dock(seat, team, i < team->size);
        if (i < team->size) validate_member(seat, team);
    }
    validate_counts(team);
}

#endif
