/* parallel, teams on the host, cancellation: GCC's calls, decoded. */
#include "abi/gomp/facts.h"
#include "abi/gomp/reduce.h"
#include "abi/omp/both.h"
#include "abi/whole.h"
#include "core/front.h"
#include "platform/platform.h"

#include <limits.h>

CST_WHOLE(gomp_region);

CST_ENTRY(CST_FRONT_GOMP, void, GOMP_parallel,
          (gomp_body * body, void *data, unsigned threads, unsigned flags),
          (body, data, threads, flags)) {
    CST_KEEP_FRAME();
    struct cst_region region = {.front = CST_FRONT_GOMP,
                                .function = body,
                                .data = data,
                                .threads = threads,
                                .bind = flags & GOMP_PARALLEL_BIND_MASK};
    cst_region_run(cst_self(), &region);
}

CST_ENTRY(CST_FRONT_GOMP, void, GOMP_parallel_start,
          (gomp_body * body, void *data, unsigned threads), (body, data, threads)) {
    struct cst_region region = {
        .front = CST_FRONT_GOMP, .function = body, .data = data, .threads = threads};
    struct cst_thread *thread = cst_self();
    cst_region_launch(thread, cst_region_begin(thread, &region), &region);
}

void GOMP_parallel_end(void) {
    cst_region_end(cst_self());
}

CST_ENTRY(CST_FRONT_GOMP, unsigned, GOMP_parallel_reductions,
          (gomp_body * body, void *data, unsigned threads, unsigned flags),
          (body, data, threads, flags)) {
    CST_KEEP_FRAME();
    struct cst_region region = {.front = CST_FRONT_GOMP,
                                .function = body,
                                .data = data,
                                .threads = threads,
                                .bind = flags & GOMP_PARALLEL_BIND_MASK};
    struct cst_thread *thread = cst_self();
    struct cst_team *team = cst_region_begin(thread, &region);
    struct cst_group group;
    uintptr_t *description = *(uintptr_t **)data;
    unsigned size = cst_ask_size();
    cst_reduce_begin_region(thread, &group, cst_gomp_reductions(description));
    cst_gomp_reductions_tell(description);
    cst_region_launch(thread, team, &region);
    body(data);
    cst_region_end(cst_self());
    return size;
}

/* --- teams on the host -------------------------------------------------------------------- */

/* libgomp's number of teams where the program asks for none. */
enum { DEFAULT_TEAMS = 3 };

static uint32_t limit_of(unsigned limit) {
    return limit > INT_MAX ? UINT32_MAX : limit;
}

/* The teams of the league run one after the other, each by the calling thread. */
CST_ENTRY(CST_FRONT_GOMP, void, GOMP_teams_reg,
          (gomp_body * body, void *data, unsigned teams, unsigned limit, unsigned flags),
          (body, data, teams, limit, flags)) {
    (void)flags;
    if (teams > INT_MAX) { /* omp_get_num_teams cannot return more */
        cst_message(
            "a num_teams clause asks for %u teams, and at most %d are possible; the default "
            "is used instead",
            teams, INT_MAX);
        teams = 0;
    }
    if (teams == 0) teams = cst_load_relaxed(&cst_config.num_teams);
    cst_league_run(cst_self(), teams ? teams : DEFAULT_TEAMS, limit, body, data);
}

/* Called within a target region that the host executes. */
void GOMP_teams(unsigned teams, unsigned limit) {
    (void)teams;
    if (limit) cst_own_icv()->thread_limit = limit_of(limit);
}

bool GOMP_teams4(unsigned least, unsigned most, unsigned limit, bool first) {
    (void)most;
    struct cst_league league = cst_ask_league();
    if (first) {
        GOMP_teams(least, limit);
        league = (struct cst_league){.number = 0, .size = least ? least : 1};
    } else if (++league.number == league.size) {
        return false;
    }
    cst_league_set(cst_self(), league);
    return true;
}

/* --- cancellation ------------------------------------------------------------------------ */

bool GOMP_cancellation_point(int which) {
    if (!cst_config.cancellation) return false;
    struct cst_thread *thread = cst_self();
    if (which & (GOMP_CANCEL_LOOP | GOMP_CANCEL_SECTIONS))
        return cst_construct_is_cancelled(thread);
    if ((which & GOMP_CANCEL_TASKGROUP) && cst_taskgroup_is_cancelled(thread)) return true;
    return cst_region_is_cancelled(thread);
}

bool GOMP_cancel(int which, bool wanted) {
    if (!cst_config.cancellation) return false;
    if (!wanted) return GOMP_cancellation_point(which);
    struct cst_thread *thread = cst_self();
    if (which & (GOMP_CANCEL_LOOP | GOMP_CANCEL_SECTIONS)) {
        cst_construct_cancel(thread);
    } else if (which & GOMP_CANCEL_TASKGROUP) {
        cst_taskgroup_cancel(thread);
    } else {
        cst_region_cancel(thread);
    }
    return true;
}

/* --- objects of GCC that clang links --------------------------------------------------------- */

CST_FOR_BOTH(GOMP_cancel);
CST_FOR_BOTH(GOMP_cancellation_point);
CST_FOR_BOTH(GOMP_parallel);
CST_FOR_BOTH(GOMP_parallel_end);
CST_FOR_BOTH(GOMP_parallel_reductions);
CST_FOR_BOTH(GOMP_parallel_start);
CST_FOR_BOTH(GOMP_teams);
CST_FOR_BOTH(GOMP_teams_reg);
