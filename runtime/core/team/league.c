/* The league of a teams construct on the host. The initial team around a thread has the team's
 * number in the league. */
#include "core/team/questions.h"

static struct cst_team *initial_team(const struct cst_thread *thread) {
    struct cst_team *team = thread->team;
    while (team->enclosing) team = team->enclosing;
    return team;
}

struct cst_league cst_ask_league(void) {
    const struct cst_thread *self = cst_known();
    if (!self) return (struct cst_league){.number = 0, .size = 1};
    const struct cst_team *team = initial_team(self);
    return (struct cst_league){.number = team->team_number, .size = team->other_teams + 1};
}

void cst_league_set(struct cst_thread *thread, struct cst_league league) {
    struct cst_team *team = initial_team(thread);
    team->team_number = league.number;
    team->other_teams = league.size - 1;
}

void cst_league_run(struct cst_thread *thread, uint32_t teams, uint32_t limit,
                    void (*function)(void *data), void *data) {
    CST_KEEP_FRAME();
    struct cst_icv *icv = &thread->task->icv;
    uint32_t saved = icv->thread_limit;
    if (limit == 0) limit = cst_load_relaxed(&cst_config.teams_thread_limit);
    if (limit) icv->thread_limit = limit > INT32_MAX ? UINT32_MAX : limit;
    for (uint32_t number = 0; number < teams; number++) {
        cst_league_set(thread, (struct cst_league){.number = number, .size = teams});
        function(data);
    }
    cst_league_set(thread, (struct cst_league){.number = 0, .size = 1});
    icv->thread_limit = saved;
}
