/* parallel, teams on the host, cancellation: GCC's calls, decoded. */
#include "abi/facts.h"
#include "abi/whole.h"
#include "core/task/cancel.h"
#include "core/settings/config.h"
#include "core/work/loop.h"
#include "core/base/message.h"
#include "core/work/reduce.h"
#include "core/state/thread.h"
#include "platform/platform.h"

#include <limits.h>

CST_WHOLE(gomp_region);

void GOMP_parallel(gomp_body *body, void *data, unsigned threads, unsigned flags) {
    CST_KEEP_FRAME();
    struct cst_region region = {.function = body,
                                .data = data,
                                .threads = threads,
                                .bind = flags & GOMP_PARALLEL_BIND_MASK};
    cst_region_run(cst_self(), &region);
}

void GOMP_parallel_start(gomp_body *body, void *data, unsigned threads) {
    struct cst_region region = {.function = body, .data = data, .threads = threads};
    struct cst_thread *thread = cst_self();
    cst_region_launch(thread, cst_region_begin(thread, &region), &region);
}

void GOMP_parallel_end(void) {
    cst_region_end(cst_self());
}

unsigned GOMP_parallel_reductions(gomp_body *body, void *data, unsigned threads, unsigned flags) {
    CST_KEEP_FRAME();
    struct cst_region region = {.function = body,
                                .data = data,
                                .threads = threads,
                                .bind = flags & GOMP_PARALLEL_BIND_MASK};
    struct cst_thread *thread = cst_self();
    struct cst_team *team = cst_region_begin(thread, &region);
    uintptr_t *reductions = *(uintptr_t **)data;
    struct cst_group group = {.seat = thread->seat, .reductions = reductions};
    cst_reduce_allocate(reductions, NULL, team->size);
    team->group = &group;
    thread->task->open_group = &group;
    unsigned size = team->size;
    cst_region_launch(thread, team, &region);
    body(data);
    cst_region_end(cst_self());
    return size;
}

/* --- teams on the host -------------------------------------------------------------------- */

/* libgomp's number of teams where nobody asks for one. */
enum { DEFAULT_TEAMS = 3 };

static uint32_t limit_of(unsigned limit) {
    return limit > INT_MAX ? UINT32_MAX : limit;
}

static struct cst_team *initial_team(struct cst_thread *thread) {
    struct cst_team *team = thread->team;
    while (team->enclosing) team = team->enclosing;
    return team;
}

/* The teams of the league run one after the other, each by the calling thread. */
void GOMP_teams_reg(gomp_body *body, void *data, unsigned teams, unsigned limit, unsigned flags) {
    (void)flags;
    CST_KEEP_FRAME();
    struct cst_thread *thread = cst_self();
    struct cst_team *team = initial_team(thread);
    struct cst_icv *icv = &thread->task->icv;
    uint32_t saved = icv->thread_limit;
    if (limit == 0) limit = cst_load_relaxed(&cst_config.teams_thread_limit);
    if (limit) icv->thread_limit = limit_of(limit);
    if (teams > INT_MAX) { /* omp_get_num_teams could not tell their number */
        cst_message(
            "a num_teams clause asks for %u teams, and at most %d are possible; the default "
            "is used instead",
            teams, INT_MAX);
        teams = 0;
    }
    if (teams == 0) teams = cst_load_relaxed(&cst_config.num_teams);
    if (teams == 0) teams = DEFAULT_TEAMS;
    team->other_teams = teams - 1;
    for (team->team_number = 0; team->team_number < teams; team->team_number++) body(data);
    team->other_teams = team->team_number = 0;
    icv->thread_limit = saved;
}

/* Within a target region that the host executes. */
void GOMP_teams(unsigned teams, unsigned limit) {
    (void)teams;
    if (limit) cst_self()->task->icv.thread_limit = limit_of(limit);
}

bool GOMP_teams4(unsigned least, unsigned most, unsigned limit, bool first) {
    (void)most;
    struct cst_team *team = initial_team(cst_self());
    if (!first) {
        if (team->team_number == team->other_teams) return false;
        team->team_number++;
        return true;
    }
    GOMP_teams(least, limit);
    team->other_teams = least ? least - 1 : 0;
    team->team_number = 0;
    return true;
}

/* --- cancellation ------------------------------------------------------------------------ */

bool GOMP_cancellation_point(int which) {
    if (!cst_config.cancellation) return false;
    struct cst_thread *thread = cst_self();
    if (which & (GOMP_CANCEL_LOOP | GOMP_CANCEL_SECTIONS))
        return cst_construct_is_cancelled(thread);
    if ((which & GOMP_CANCEL_TASKGROUP) && cst_group_is_cancelled(thread->task->open_group))
        return true;
    return cst_region_is_cancelled(thread);
}

bool GOMP_cancel(int which, bool wanted) {
    if (!cst_config.cancellation) return false;
    if (!wanted) return GOMP_cancellation_point(which);
    struct cst_thread *thread = cst_self();
    if (which & (GOMP_CANCEL_LOOP | GOMP_CANCEL_SECTIONS)) {
        cst_construct_cancel(thread);
    } else if (which & GOMP_CANCEL_TASKGROUP) {
        struct cst_group *group = cst_group_to_cancel(thread->task->open_group);
        if (group) cst_store_relaxed(&group->cancelled, 1);
    } else {
        cst_region_cancel(thread);
    }
    return true;
}
