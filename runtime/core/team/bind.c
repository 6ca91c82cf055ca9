/* Binding of a team's members; see bind.h. */
#include "core/team/bind.h"

#include "core/settings/affinity_format.h"
#include "core/team/affinity.h"

const struct cst_binding *cst_bind_self(struct cst_thread *thread) {
    struct cst_seat *seat = thread->seat;
    if (seat->binding.place == 0 && cst_places.count > 0) {
        seat->binding = cst_config.bind_resets ? cst_place_here() : cst_place_first();
        seat->bound_place = seat->binding.place;
    }
    return &seat->binding;
}

void cst_bind_team(struct cst_thread *thread, struct cst_team *team, uint8_t clause) {
    uint8_t bind = thread->task->icv.bind;
    /* The clause has an effect only if the variable does not forbid binding. */
    if (bind != CST_BIND_FALSE && clause != CST_BIND_FALSE) bind = clause;
    team->bind = bind;
    team->binding = *cst_bind_self(thread);
    if (cst_config.bind_resets && !thread->team->enclosing) cst_place_bind(team->binding.place);
}

void cst_bind_reset(const struct cst_thread *thread) {
    if (!thread->team->enclosing) cst_place_unbind();
}

/* Displays changes as libomp does: it compares with the thread's last display in any team, and
 * counts teams of one too. */
static void display_as_libomp(struct cst_thread *thread) {
    const struct cst_team *team = thread->team;
    struct cst_shown now = {team->size, team->level, thread->seat->binding.place};
    struct cst_shown *shown = &thread->shown;
    if (shown->size == now.size && shown->level == now.level && shown->place == now.place) return;
    *shown = now;
    cst_affinity_display(NULL);
}

/* Displays the member's affinity once for each change. */
static void display(struct cst_thread *thread) {
    struct cst_seat *seat = thread->seat;
    const struct cst_team *team = thread->team;
    if (cst_affinity_is_libomp()) {
        display_as_libomp(thread);
        return;
    }
    if (team->size == 1) return;
    if (seat->shown_size == team->size && seat->shown_level == team->level &&
        seat->shown_place == seat->binding.place)
        return;
    seat->shown_size = team->size;
    seat->shown_level = team->level;
    seat->shown_place = seat->binding.place;
    cst_affinity_display(NULL);
}

void cst_bind_member(struct cst_thread *thread) {
    struct cst_seat *seat = thread->seat;
    const struct cst_team *team = thread->team;
    seat->binding =
        cst_place_assign(&team->binding, (enum cst_bind)team->bind, team->size, thread->number);
    /* The master keeps its place, so it is not bound again. */
    if (thread->number > 0 && seat->bound_place != seat->binding.place) {
        cst_place_bind(seat->binding.place);
        seat->bound_place = seat->binding.place;
    }
    if (cst_config.display_affinity) display(thread);
}
