/* The life of a region, from the master's side; see region.h, and README.md, "Fork and join". */
#include "core/team/region.h"

#include "core/base/memory.h"
#include "core/budget/permit.h"
#include "core/host/busy.h"
#include "core/settings/config.h"
#include "core/state/trace.h"
#include "core/task/cancel.h"
#include "core/task/quiesce.h"
#include "core/task/task.h"
#include "core/team/bind.h"
#include "core/team/member.h"
#include "core/team/pool.h"
#include "core/team/size.h"
#include "core/team/team.h"
#include "core/team/validate.h"
#include "core/wait/together.h"
#include "core/wait/turn.h"
#include "core/work/barrier.h"
#include "core/work/loop.h"
#include "platform/happens.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool (*cst_team_entered_unsafely)(struct cst_thread *thread);

/* --- which team ------------------------------------------------------------------------- */

static struct cst_team *solo_team(struct cst_thread *thread) {
    struct cst_team *team = thread->solo;
    if (cst_likely(team != NULL)) {
        thread->solo = team->next;
        return team;
    }
    team = cst_team_make();
    if (!team) cst_memory_exhausted("a team", sizeof *team);
    return team;
}

/* The number of threads of regions directly nested in the team's, by the list of a num_threads
 * clause. */
static uint32_t size_within(const struct cst_team *team) {
    const struct cst_sizes *sizes = team->sizes;
    uint32_t index = team->level - sizes->level + 1;
    return sizes->threads[index < sizes->count ? index : sizes->count - 1];
}

/* The ICVs are written only if they differ, so that members keep the line cached. */
static void set_icv(struct cst_team *team, const struct cst_icv *icv) {
    if (memcmp(icv, &team->icv, sizeof *icv) != 0) team->icv = *icv;
}

static __attribute__((noinline)) void derive_icv(struct cst_team *team, const struct cst_icv *from,
                                                 uint8_t bind) {
    struct cst_icv icv = *from;
    if (bind != CST_BIND_FALSE && icv.bind != CST_BIND_FALSE) icv.bind = bind;
    if (team->sizes != NULL) {
        icv.nthreads = size_within(team);
        icv.nthreads_explicit = 1;
    } else if (cst_config.nthreads_list_length > team->level) {
        icv.nthreads = cst_config.nthreads_list[team->level];
    }
    if (cst_config.bind_list_length > team->level) icv.bind = cst_config.bind_list[team->level];
    set_icv(team, &icv);
}

/* Sets the ICVs of a region's implicit tasks from the encountering task's and the proc_bind clause.
 * The number of threads is the next entry of the list in a num_threads clause, or else in
 * OMP_NUM_THREADS. The binding is the next entry in OMP_PROC_BIND. Most regions have none of
 * these. */
static void inherit_icv(struct cst_team *team, const struct cst_icv *from, uint8_t bind) {
    bool differs = bind != CST_BIND_FALSE || team->sizes != NULL ||
                   cst_config.nthreads_list_length > team->level ||
                   cst_config.bind_list_length > team->level;
    if (cst_unlikely(differs))
        derive_icv(team, from, bind);
    else
        set_icv(team, from);
}

/* Writes a field of the team only if it changes, so that members keep the line cached. */
#define SET(field, value)                                                                          \
    do {                                                                                           \
        if (team->field != (value)) team->field = (value);                                         \
    } while (0)

/* Are there more threads than processors? Haskell code counts, where threads are not bound. */
static void set_crowded(struct cst_team *team, uint32_t size) {
    uint32_t processors = 0;
    uint8_t crowded = CST_UNCROWDED;
    if (size > 1) {
        if (cst_busy_threads() > cst_config.available) crowded = CST_CROWDED;
        processors = cst_together_processors(team, size);
        if (cst_unlikely(processors > 0) && cst_bind_wanted()) processors = 0;
        if (cst_unlikely(processors > 0)) crowded = CST_TOGETHER;
    }
    SET(crowded, crowded);
    if (cst_load_relaxed(&team->together.processors) != processors)
        cst_store_relaxed(&team->together.processors, processors);
}

static void describe(struct cst_thread *thread, struct cst_team *team, uint32_t size,
                     const struct cst_region *region) {
    struct cst_team *enclosing = thread->team;
    if (cst_unlikely(region->sizes != NULL)) region->sizes->level = enclosing->level + 1;
    SET(sizes, region->sizes ? region->sizes : enclosing->sizes);
    SET(size, size);
    SET(level, enclosing->level + 1);
    SET(active_level, enclosing->active_level + (size > 1));
    SET(master_number, thread->number);
    SET(enclosing, enclosing);
    SET(root, enclosing->root);
    SET(encountering, thread->task);
    SET(group, NULL);
    /* All tasks of earlier regions are complete. */
    if (cst_load_relaxed(&team->foreign_done) != 0) cst_store_relaxed(&team->foreign_done, 0);
    set_crowded(team, size);
    SET(unsafe, enclosing->unsafe || (size > 1 && cst_unlikely(cst_team_entered_unsafely != NULL) &&
                                      cst_team_entered_unsafely(thread)));
    team->region++;
    if (size > 1) {
        cst_store_relaxed(&team->running, team->region);
        SET(float_mode, cst_float_mode());
    }
    inherit_icv(team, &thread->task->icv, region->bind);
}

/* The order for the master's own seat and for the members, without the function. */
static struct cst_order order_of(const struct cst_team *team) {
    return (struct cst_order){.size = team->size,
                              .barrier = team->first.barrier,
                              .crowded = team->crowded,
                              .construct = team->first.construct,
                              .singles = team->first.singles};
}

/* Measures the time for which an unsafe foreign call held its Capability: from the beginning to the
 * end of the thread's outermost such region. */
static void count_unsafe(struct cst_thread *thread, struct cst_team *team, bool begins) {
    if (team->enclosing->unsafe) return;
    if (begins) {
        thread->unsafe_regions++;
        thread->unsafe_since = cst_clock_ns();
    } else {
        thread->unsafe_ns += cst_clock_ns() - thread->unsafe_since;
    }
}

/* Finds the region's team and describes the region in it. The master does not take its seat yet. */
static struct cst_team *prepare(struct cst_thread *thread, const struct cst_region *region) {
    uint32_t limited = 0;
    uint32_t size = cst_size_choose(thread, region, &limited);
    struct cst_team *team = NULL;
    if (size > 1) team = cst_pool_lease(thread, size, cst_size_shrinks(thread, region), &size);
    if (size == 1 || !team) {
        size = 1;
        if (team) cst_pool_return(team);
        team = solo_team(thread);
    }
    describe(thread, team, size, region);
    if (cst_unlikely(cst_bind_wanted())) cst_bind_team(thread, team, region->bind);
    SET(limited, limited);
    team->first.singles = cst_load_relaxed(&team->singles);
    if (team->crowded) {
        cst_store_relaxed(&team->awaited, size);
        cst_store_relaxed(&team->joining, size - 1);
    }
    thread->regions[region->front]++;
    if (cst_unlikely(team->unsafe)) count_unsafe(thread, team, true);
    cst_trace(CST_TRACE_REGION_BEGINS, thread, size);
    return team;
}

/* The loop is copied only if the thread has met one, as it is three quarters of the context. */
static void copy_context(struct cst_context *to, const struct cst_context *from) {
    memcpy(to, from, offsetof(struct cst_context, loop));
    if (cst_unlikely(from->loop.tag != 0))
        to->loop = from->loop;
    else
        to->loop.tag = 0;
}

static void take_first_seat(struct cst_thread *thread, struct cst_team *team) {
    struct cst_seat *seat = &team->first;
    copy_context(&team->saved, &thread->context);
    seat->thread = thread;
    struct cst_order order = order_of(team);
    cst_member_begin(thread, seat, team->region, &order);
}

struct cst_team *cst_region_begin(struct cst_thread *thread, const struct cst_region *region) {
    struct cst_team *team = prepare(thread, region);
    take_first_seat(thread, team);
    return team;
}

/* --- fork ------------------------------------------------------------------------------- */

/* The data that the members read: the master's, or the team's copy. */
static void *data_of(struct cst_team *team, const struct cst_region *region) {
    if (region->words == 0) return region->data;
    const uintptr_t *words = region->data;
    for (uint32_t i = 0; i < region->words; i++) SET(data[i], words[i]);
    return team->data;
}

/* Starts all members. */
static void fork_all(struct cst_team *team, const struct cst_region *region, uint64_t construct) {
    if (team->size == 1) return;
    struct cst_order order = order_of(team);
    order.combined = region->combined;
    order.function = region->function;
    order.data = data_of(team, region);
    order.construct = construct;
    cst_member_fork(team, 0, team->region, &order);
}

void cst_region_launch(struct cst_thread *thread, struct cst_team *team,
                       const struct cst_region *region) {
    uint64_t construct = team->first.construct;
    if (region->combined) cst_loop_join(thread, region->combined);
    fork_all(team, region, construct);
}

/* --- join ------------------------------------------------------------------------------- */

/* After a cancelled region the members have passed different numbers of barriers and met different
 * numbers of constructs. */
static void agree_on_counts(struct cst_team *team) {
    struct cst_seat *first = &team->first;
    for (uint32_t i = 1; i < team->size; i++) {
        struct cst_seat *seat = cst_team_seat(team, i);
        if ((int32_t)(seat->barrier - first->barrier) > 0) first->barrier = seat->barrier;
        if (seat->construct > first->construct) first->construct = seat->construct;
    }
}

/* Frees the list of the region's own clause. The list of an enclosing region's clause stays. */
static void drop_sizes(struct cst_team *team) {
    if (team->sizes->level == team->level) free((void *)team->sizes);
    team->sizes = NULL;
}

/* A worker's order still has the number of the last barrier before the region. */
static uint32_t steps_of(struct cst_team *team) {
    return team->first.barrier - cst_team_seat(team, 1)->dock.order.barrier;
}

void cst_region_end(struct cst_thread *thread) {
    struct cst_seat *seat = thread->seat;
    struct cst_team *team = thread->team;
    bool tasks = seat->made_tasks;
    seat->barrier++;
    if (team->size > 1) {
        cst_together_arrive(team);
        if (team->crowded) {
            bool waits = !cst_reached(&team->joined, seat->region);
            if (waits) cst_member_await(thread, &team->joined, seat->region);
            tasks |= cst_central_has_tasks(team, seat->barrier);
            if (cst_unlikely(team->crowded == CST_TOGETHER) && waits) cst_together_joined(team);
        } else {
            tasks |= cst_member_await_children(thread, team->size);
        }
        cst_happens_after(&team->joined);
        if (cst_unlikely(cst_region_is_cancelled(thread))) {
            agree_on_counts(team);
            tasks = true;
        }
    }
    if (cst_unlikely(tasks)) cst_quiesce_region(thread);
    if (cst_unlikely(seat->partners > 0)) cst_task_stop_helping(thread);
    cst_member_end_coroutines(thread);
    if (cst_unlikely(team->unsafe)) count_unsafe(thread, team, false);
    if (cst_unlikely(team->sizes != NULL)) drop_sizes(team);
    cst_trace(CST_TRACE_REGION_ENDS, thread, team->size);
    copy_context(&thread->context, &team->saved);
    if (cst_unlikely(team->limited > 1))
        cst_sub_relaxed(&team->root->group_threads, team->limited - 1);
    if (team->size > 1) {
        cst_team_validate(team);
        if (cst_unlikely(thread->turn_begun != 0)) cst_turn_note_region(thread, steps_of(team));
        cst_pool_return(team);
        cst_permit_offer(true);
    } else {
        team->next = thread->solo;
        thread->solo = team;
    }
    if (cst_unlikely(cst_config.bind_resets)) cst_bind_reset(thread);
}

void cst_region_run(struct cst_thread *thread, const struct cst_region *region) {
    CST_KEEP_FRAME();
    struct cst_team *team = prepare(thread, region);
    fork_all(team, region, team->first.construct); /* the members start first */
    take_first_seat(thread, team);
    region->function(region->data);
    cst_region_end(cst_self());
}

void cst_region_isolate(struct cst_thread *thread, cst_region_function *function, void *data,
                        uint32_t thread_limit) {
    CST_KEEP_FRAME();
    struct cst_team *team = solo_team(thread);
    struct cst_seat *seat = &team->first;
    team->size = 1;
    team->level = team->active_level = team->limited = 0;
    team->enclosing = NULL;
    team->encountering = NULL;
    team->group = NULL;
    team->sizes = NULL;
    team->crowded = CST_UNCROWDED;
    team->unsafe = false;
    team->root = team;
    cst_store_relaxed(&team->group_threads, 0);
    cst_store_relaxed(&team->foreign_done, 0);
    team->team_number = team->other_teams = 0;
    team->region++;
    team->icv = cst_config.icv;
    if (thread_limit) team->icv.thread_limit = thread_limit;
    seat->singles = cst_load_relaxed(&team->singles);
    take_first_seat(thread, team);
    function(data);
    cst_region_end(cst_self());
}
