/* The user's questions about threads, teams and levels, and the ICVs that a program may set. Each
 * call works on the data environment of the current task. A question neither allocates nor locks,
 * so a signal handler may ask it (thread.h, cst_known). */
#include "abi/omp/both.h"
#include "abi/omp/prototypes.h"

#include "abi/whole.h"
#include "core/front.h"
#include "platform/platform.h"

#include <limits.h>

CST_WHOLE(omp_api);

enum { SUPPORTED_LEVELS = UINT8_MAX };

/* --- threads ----------------------------------------------------------------------------- */

void omp_set_num_threads(int threads) {
    uint32_t asked = threads > 0 ? (uint32_t)threads : 1;
    cst_set_most(cst_bounds_threads("omp_set_num_threads", asked, cst_config.icv.nthreads));
}

int omp_get_num_threads(void) {
    return (int)cst_ask_size();
}

int omp_get_max_threads(void) {
    return (int)cst_ask_most(__builtin_return_address(0));
}

int omp_get_thread_num(void) {
    return (int)cst_ask_number();
}

int omp_get_thread_limit(void) {
    uint32_t limit = cst_known_icv()->thread_limit;
    return limit > INT_MAX ? INT_MAX : (int)limit;
}

/* The mask of a bound thread contains one place, so the answer is the number at the start. */
int omp_get_num_procs(void) {
    if (cst_config.icv.bind != 0) return (int)cst_config.available;
    unsigned now = cst_cpu_affinity_count(), quota = cst_processors_quota();
    return (int)(quota && quota < now ? quota : now);
}

void omp_set_dynamic(int dynamic) {
    cst_own_icv()->dynamic = dynamic ? CST_DYNAMIC_ON : CST_DYNAMIC_OFF;
}

int omp_get_dynamic(void) {
    return cst_known_icv()->dynamic == CST_DYNAMIC_ON;
}

/* --- levels ------------------------------------------------------------------------------ */

int omp_in_parallel(void) {
    return omp_get_active_level() > 0;
}

int omp_get_level(void) {
    return (int)cst_ask_level();
}

int omp_get_active_level(void) {
    return (int)cst_ask_active_level();
}

int omp_get_ancestor_thread_num(int level) {
    uint32_t number, size;
    return cst_ask_ancestor(level, &number, &size) ? (int)number : -1;
}

int omp_get_team_size(int level) {
    uint32_t number, size;
    return cst_ask_ancestor(level, &number, &size) ? (int)size : -1;
}

void omp_set_max_active_levels(int levels) {
    if (levels < 0) return;
    cst_own_icv()->max_active_levels =
        levels < SUPPORTED_LEVELS ? (uint8_t)levels : SUPPORTED_LEVELS;
}

int omp_get_max_active_levels(void) {
    return cst_known_icv()->max_active_levels;
}

int omp_get_supported_active_levels(void) {
    return SUPPORTED_LEVELS;
}

void omp_set_nested(int nested) {
    struct cst_icv *mine = cst_own_icv();
    if (nested)
        mine->max_active_levels = SUPPORTED_LEVELS;
    else if (mine->max_active_levels > 1)
        mine->max_active_levels = 1;
}

int omp_get_nested(void) {
    int levels = cst_known_icv()->max_active_levels;
    return levels > 1 && levels > omp_get_active_level();
}

/* --- schedule ---------------------------------------------------------------------------- */

void omp_set_schedule(unsigned kind, int chunk) {
    struct cst_icv *mine = cst_own_icv();
    unsigned plain = kind & ~OMP_SCHED_MONOTONIC;
    switch (plain) {
    case OMP_SCHED_STATIC:
        mine->run_sched_chunk = chunk < 1 ? 0 : chunk;
        break;
    case OMP_SCHED_DYNAMIC:
    case OMP_SCHED_GUIDED:
        mine->run_sched_chunk = chunk < 1 ? 1 : chunk;
        break;
    case OMP_SCHED_AUTO:
        break; /* auto keeps the chunk and does not use it */
    default:
        return;
    }
    mine->run_sched_kind = (uint8_t)plain;
    mine->run_sched_monotonic = kind != plain;
    mine->run_sched_given = 1;
}

void omp_get_schedule(unsigned *kind, int *chunk) {
    const struct cst_icv *mine = cst_known_icv();
    *kind = mine->run_sched_kind | (mine->run_sched_monotonic ? OMP_SCHED_MONOTONIC : 0);
    *chunk = mine->run_sched_chunk;
}

/* --- tasks and cancellation -------------------------------------------------------------- */

int omp_in_final(void) {
    return cst_ask_final();
}

int omp_in_explicit_task(void) {
    return cst_ask_explicit_task();
}

int omp_get_max_task_priority(void) {
    return (int)cst_config.max_task_priority;
}

int omp_get_cancellation(void) {
    return cst_config.cancellation;
}

void omp_fulfill_event(omp_event_handle_t event) {
    cst_task_fulfill((struct cst_task *)event);
}

/* --- teams ------------------------------------------------------------------------------- */

int omp_get_num_teams(void) {
    return (int)cst_ask_league().size;
}

int omp_get_team_num(void) {
    return (int)cst_ask_league().number;
}

/* These ICVs belong to the device. Relaxed: they order nothing (config.h). */
void omp_set_num_teams(int teams) {
    if (teams >= 0) cst_store_relaxed(&cst_config.num_teams, (uint32_t)teams);
}

int omp_get_max_teams(void) {
    return (int)cst_load_relaxed(&cst_config.num_teams);
}

void omp_set_teams_thread_limit(int limit) {
    if (limit >= 0) cst_store_relaxed(&cst_config.teams_thread_limit, (uint32_t)limit);
}

int omp_get_teams_thread_limit(void) {
    return (int)cst_load_relaxed(&cst_config.teams_thread_limit);
}

/* --- time -------------------------------------------------------------------------------- */

double omp_get_wtime(void) {
    return (double)cst_clock_ns() / 1e9;
}

double omp_get_wtick(void) {
    return (double)cst_clock_resolution_ns() / 1e9;
}

/* --- resources and tools ------------------------------------------------------------------ */

/* Both kinds free all idle workers: threadprivate data lives in the program's own TLS, and the
 * specification permits a soft pause to do as much as a hard one. A call inside a region fails. */
int omp_pause_resource_all(int kind) {
    (void)kind;
    if (cst_ask_level() > 0) return -1;
    cst_workers_end(true);
    return 0;
}

int omp_pause_resource(int kind, int device) {
    return cst_device_is_host(device) ? omp_pause_resource_all(kind) : -1;
}

/* No tool is ever active: omp_control_tool_notool. */
int omp_control_tool(int command, int modifier, void *argument) {
    (void)command, (void)modifier, (void)argument;
    return -2;
}

/* --- the same for programs of clang --------------------------------------------------------- */

CST_FOR_BOTH(omp_set_num_threads);
CST_FOR_CLANG(ompc_set_num_threads, omp_set_num_threads);
CST_FOR_BOTH(omp_get_num_threads);
CST_FOR_BOTH(omp_get_max_threads);
CST_FOR_BOTH(omp_get_thread_num);
CST_FOR_BOTH(omp_get_thread_limit);
CST_FOR_BOTH(omp_get_num_procs);
CST_FOR_BOTH(omp_set_dynamic);
CST_FOR_CLANG(ompc_set_dynamic, omp_set_dynamic);
CST_FOR_BOTH(omp_get_dynamic);
CST_FOR_BOTH(omp_in_parallel);
CST_FOR_BOTH(omp_get_level);
CST_FOR_BOTH(omp_get_active_level);
CST_FOR_BOTH(omp_get_ancestor_thread_num);
CST_FOR_CLANG(ompc_get_ancestor_thread_num, omp_get_ancestor_thread_num);
CST_FOR_BOTH(omp_get_team_size);
CST_FOR_CLANG(ompc_get_team_size, omp_get_team_size);
CST_FOR_BOTH(omp_set_max_active_levels);
CST_FOR_CLANG(ompc_set_max_active_levels, omp_set_max_active_levels);
CST_FOR_BOTH(omp_get_max_active_levels);
CST_FOR_BOTH(omp_get_supported_active_levels);
CST_FOR_BOTH(omp_set_nested);
CST_FOR_CLANG(ompc_set_nested, omp_set_nested);
CST_FOR_BOTH(omp_get_nested);
CST_FOR_BOTH(omp_set_schedule);
CST_FOR_CLANG(ompc_set_schedule, omp_set_schedule);
CST_FOR_BOTH(omp_in_final);
CST_FOR_BOTH(omp_in_explicit_task);
CST_FOR_BOTH(omp_get_max_task_priority);
CST_FOR_BOTH(omp_get_cancellation);
CST_FOR_BOTH(omp_fulfill_event);
CST_FOR_BOTH(omp_get_num_teams);
CST_FOR_BOTH(omp_get_team_num);
CST_FOR_BOTH(omp_set_num_teams);
CST_FOR_BOTH(omp_get_max_teams);
CST_FOR_BOTH(omp_set_teams_thread_limit);
CST_FOR_BOTH(omp_get_teams_thread_limit);
CST_FOR_BOTH(omp_get_wtime);
CST_FOR_BOTH(omp_get_wtick);
CST_FOR_BOTH(omp_pause_resource_all);
CST_FOR_BOTH(omp_pause_resource);
CST_FOR_BOTH(omp_control_tool);
