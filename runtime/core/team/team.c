/* The life of a region: fork, run, join. See team.h, and README.md, "Fork and join". */
#include "core/state/team.h"

#include "core/work/barrier.h"
#include "core/wait/apart.h"
#include "core/team/bind.h"
#include "core/base/bounds.h"
#include "core/settings/config.h"
#include "core/work/loop.h"
#include "core/base/memory.h"
#include "core/team/pool.h"
#include "core/task/quiesce.h"
#include "core/process/runtime.h"
#include "core/team/size.h"
#include "core/task/steal.h"
#include "core/state/thread.h"
#include "core/state/trace.h"
#include "core/wait/turn.h"
#include "core/wait/wait.h"
#include "core/team/workers.h"
#include "platform/happens.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SEATS = 8, MOST_FAR = 1 << 16 };

uint32_t cst_team_few[2] = {16, UINT32_MAX};

bool (*cst_team_entered_unsafely)(struct cst_thread *thread);

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
    /* The old array is kept, in front of the new: a slow thief may still read it. */
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
    /* In region 0 its workers would find it cancelled and full of tasks: both fields are 0. */
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

void cst_team_wake(struct cst_team *team) {
    for (uint32_t i = 0; i < team->size; i++) cst_wake(cst_team_seat(team, i));
}

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

/* The ICVs of a region's implicit tasks: the encountering task's, the proc_bind clause, and the
 * next entry of the lists in OMP_NUM_THREADS and OMP_PROC_BIND. Written only when they differ: the
 * members keep the line.
 */
static void set_icv(struct cst_team *team, const struct cst_icv *from, uint8_t bind) {
    struct cst_icv icv = *from;
    if (cst_unlikely(bind != CST_BIND_FALSE) && icv.bind != CST_BIND_FALSE) icv.bind = bind;
    if (cst_unlikely(cst_config.nthreads_list_length > team->level))
        icv.nthreads = cst_config.nthreads_list[team->level];
    if (cst_unlikely(cst_config.bind_list_length > team->level))
        icv.bind = cst_config.bind_list[team->level];
    if (memcmp(&icv, &team->icv, sizeof icv) != 0) team->icv = icv;
}

/* Writes a field of the team only if it changes, for the same reason. */
#define SET(field, value)                                                                          \
    do {                                                                                           \
        if (team->field != (value)) team->field = (value);                                         \
    } while (0)

static void describe(struct cst_thread *thread, struct cst_team *team, uint32_t size,
                     uint8_t bind) {
    struct cst_team *enclosing = thread->team;
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
    SET(crowded, size > 1 && cst_turn_busy() > cst_config.available);
    SET(unsafe, enclosing->unsafe || (size > 1 && cst_unlikely(cst_team_entered_unsafely != NULL) &&
                                      cst_team_entered_unsafely(thread)));
    team->region++;
    if (size > 1) {
        cst_store_relaxed(&team->running, team->region);
        SET(float_mode, cst_float_mode());
    }
    set_icv(team, &thread->task->icv, bind);
}

static uint8_t partners_of(uint32_t size, bool crowded) {
    if (!cst_team_is_large(size, crowded)) return 0;
    return (uint8_t)(size > MOST_FAR ? 16 : 32 - __builtin_clz(size - 1));
}

/* What a member, the master too, does first in a region. */
static void take_seat(struct cst_thread *thread, struct cst_seat *seat, uint32_t region,
                      uint32_t size, bool crowded, uint32_t barrier, uint64_t construct,
                      uint64_t singles) {
    struct cst_team *team = seat->team;
    seat->region = region;
    seat->size = size;
    seat->crowded = crowded;
    seat->barrier = barrier;
    seat->made_tasks = false;
    seat->at_end = false;
    seat->in_wave = false;
    seat->partners = partners_of(size, crowded);
    if (seat->partners > 0) cst_box_begin(seat);
    seat->construct = seat->construct_at_barrier = seat->left_by_all = construct;
    seat->singles = singles;
    cst_store_release(&seat->construct_left, construct);
    cst_store_relaxed(&seat->tasks_made, 0);
    cst_store_relaxed(&seat->tasks_done, 0);
    cst_task_init_implicit(&seat->implicit, team, seat, team->encountering, &team->icv);
    thread->team = team;
    thread->seat = seat;
    thread->task = &seat->implicit;
    thread->share = NULL;
    thread->number = seat->number;
    seat->implicit.open_group = team->group;
    if (cst_unlikely(cst_bind_wanted())) cst_bind_member(thread);
    cst_apart_say(seat);
}

/* How long an unsafe foreign call held its Capability: counted where the outermost such region of
 * the thread begins and ends. */
static void count_unsafe(struct cst_thread *thread, struct cst_team *team, bool begins) {
    if (team->enclosing->unsafe) return;
    if (begins) {
        thread->unsafe_regions++;
        thread->unsafe_since = cst_clock_ns();
    } else {
        thread->unsafe_ns += cst_clock_ns() - thread->unsafe_since;
    }
}

/* Finds the region's team and describes the region in it; the master does not sit in it yet. */
static struct cst_team *prepare(struct cst_thread *thread, const struct cst_region *region) {
    uint32_t limited = 0;
    uint32_t size = cst_size_choose(thread, region, &limited);
    struct cst_team *team = NULL;
    if (size > 1) team = cst_pool_lease(thread, size, cst_size_may_shrink(thread, region), &size);
    if (size == 1 || !team) {
        size = 1;
        if (team) cst_pool_return(team);
        team = solo_team(thread);
    }
    describe(thread, team, size, region->bind);
    if (cst_unlikely(cst_bind_wanted())) cst_bind_team(thread, team, region->bind);
    SET(limited, limited);
    team->first.singles = cst_load_relaxed(&team->singles);
    if (team->crowded) {
        cst_store_relaxed(&team->awaited, size);
        cst_store_relaxed(&team->joining, size - 1);
    }
    thread->regions++;
    if (cst_unlikely(team->unsafe)) count_unsafe(thread, team, true);
    cst_trace(CST_TRACE_REGION_BEGINS, thread, size);
    return team;
}

static void take_first_seat(struct cst_thread *thread, struct cst_team *team) {
    struct cst_seat *seat = &team->first;
    team->saved = thread->context;
    seat->thread = thread;
    take_seat(thread, seat, team->region, team->size, team->crowded, seat->barrier, seat->construct,
              seat->singles);
}

struct cst_team *cst_region_begin(struct cst_thread *thread, const struct cst_region *region) {
    struct cst_team *team = prepare(thread, region);
    take_first_seat(thread, team);
    return team;
}

/* --- fork ------------------------------------------------------------------------------- */

/* The place of a member in the tree, or the member in a place. In a crowded team the last stand
 * first: its members run one after the other, and in the order of their numbers each would have
 * executed the task it deferred before the next makes one. Programs look whether target regions
 * with nowait are asynchronous, and would find them all in the program's order. */
static inline uint32_t place(uint32_t number, const struct cst_dock *order) {
    return order->crowded && number > 0 ? order->size - number : number;
}

/* Sends off the children of member `number` in the tree. */
static void fork_children(struct cst_team *team, uint32_t number, const struct cst_dock *order) {
    uint32_t self = place(number, order), end = cst_tree_end(self, order->size);
    for (uint32_t i = cst_tree_first(self); i < end; i++) {
        struct cst_seat *seat = cst_team_seat(team, place(i, order));
        seat->dock.size = order->size;
        seat->dock.barrier = order->barrier;
        seat->dock.combined = order->combined;
        seat->dock.crowded = order->crowded;
        seat->dock.function = order->function;
        seat->dock.data = order->data;
        seat->dock.construct = order->construct;
        seat->dock.singles = order->singles;
        cst_happens_before(&seat->dock.go);
        /* Release: the fields above, and all that the master wrote before the region. */
        cst_exchange_seq_cst(&seat->dock.go, cst_load_relaxed(&order->go));
        cst_wake(seat);
    }
}

/* Sends all members off. */
static void fork_all(struct cst_team *team, const struct cst_region *region, uint64_t construct) {
    if (team->size == 1) return;
    struct cst_dock order = {.go = team->region,
                             .size = team->size,
                             .barrier = team->first.barrier,
                             .combined = region->combined,
                             .crowded = team->crowded,
                             .function = region->function,
                             .data = region->data,
                             .construct = construct,
                             .singles = team->first.singles};
    fork_children(team, 0, &order);
}

void cst_region_launch(struct cst_thread *thread, struct cst_team *team,
                       const struct cst_region *region) {
    uint64_t construct = team->first.construct;
    if (region->combined) cst_loop_join(thread, region->combined);
    fork_all(team, region, construct);
}

/* --- join ------------------------------------------------------------------------------- */

static void await_helping(struct cst_thread *thread, _Atomic uint32_t *word, uint32_t target) {
    if (cst_reached(word, target)) return;
    struct cst_wait wait = {
        .holds = cst_wait_word_holds, .help = cst_barrier_help, .word = word, .target = target};
    cst_wait(thread, &wait);
}

/* Waits for the member's children in the tree. True: tasks may be outstanding. */
static bool await_children(struct cst_thread *thread, uint32_t size) {
    struct cst_team *team = thread->team;
    uint32_t region = thread->seat->region, end = cst_tree_end(thread->number, size);
    bool tasks = false;
    for (uint32_t i = cst_tree_first(thread->number); i < end; i++) {
        struct cst_seat *child = cst_team_seat(team, i);
        await_helping(thread, &child->arrived, 2 * region);
        tasks |= cst_load_relaxed(&child->arrived) & 1;
    }
    return tasks;
}

/* The coroutines that began in the thread's region end with it. */
static inline void end_coroutines(struct cst_thread *thread) {
    while (cst_unlikely(thread->coroutine != NULL) && thread->coroutine->owner == thread->team)
        cst_coroutine_end(&thread->coroutine);
}

/* A worker arrives at the region's end. Nothing of the region may be touched afterwards, unless a
 * task is stolen from it (barrier_help). */
static void arrive(struct cst_thread *thread, uint32_t size, bool crowded) {
    struct cst_seat *seat = thread->seat;
    struct cst_team *team = seat->team;
    uint32_t region = seat->region;
    bool tasks = seat->made_tasks;
    seat->barrier++;
    seat->at_end = true;
    cst_happens_before(&team->joined);
    if (crowded) {
        end_coroutines(thread);
        if (tasks) cst_central_tell_tasks(team, seat->barrier);
        if (cst_sub_acq_rel(&team->joining, 1) != 1) return;
        cst_exchange_seq_cst(&team->joined, region);
        cst_wake(&team->first);
        return;
    }
    tasks |= await_children(thread, size);
    end_coroutines(thread);
    cst_exchange_seq_cst(&seat->arrived, 2 * region + tasks);
    cst_wake(cst_team_seat(team, cst_tree_parent(seat->number)));
}

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

void cst_region_end(struct cst_thread *thread) {
    struct cst_seat *seat = thread->seat;
    struct cst_team *team = thread->team;
    bool tasks = seat->made_tasks;
    seat->barrier++;
    if (team->size > 1) {
        if (team->crowded) {
            await_helping(thread, &team->joined, seat->region);
            tasks |= cst_central_has_tasks(team, seat->barrier);
        } else {
            tasks |= await_children(thread, team->size);
        }
        cst_happens_after(&team->joined);
        if (cst_unlikely(cst_region_is_cancelled(thread))) {
            agree_on_counts(team);
            tasks = true;
        }
    }
    if (cst_unlikely(tasks)) cst_quiesce_region(thread);
    if (cst_unlikely(seat->partners > 0)) cst_task_stop_helping(thread);
    end_coroutines(thread);
    if (cst_unlikely(team->unsafe)) count_unsafe(thread, team, false);
    cst_trace(CST_TRACE_REGION_ENDS, thread, team->size);
    thread->context = team->saved;
    if (cst_unlikely(team->limited > 1))
        cst_sub_acq_rel(&team->root->group_threads, team->limited - 1);
    if (team->size > 1) {
        cst_pool_return(team);
    } else {
        team->next = thread->solo;
        thread->solo = team;
    }
}

void cst_region_run(struct cst_thread *thread, const struct cst_region *region) {
    CST_KEEP_FRAME();
    struct cst_team *team = prepare(thread, region);
    fork_all(team, region, team->first.construct); /* they are off before the master sits down */
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
    team->crowded = team->unsafe = false;
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

/* --- workers ---------------------------------------------------------------------------- */

void cst_order_block_signals(void *unused) {
    (void)unused;
    cst_thread_block_signals();
}

/* Waits in the dock for the next region or order, helping with the last one's tasks. False: the
 * worker has idled for so long that it has left its team, and is to end. */
static bool await_order(struct cst_thread *thread, struct cst_seat *seat) {
    uint64_t patience = cst_workers_patience(seat->team);
    for (;;) {
        struct cst_wait wait = {.holds = cst_wait_word_holds,
                                .help = cst_quiesce_help,
                                .word = &seat->dock.go,
                                .target = seat->region + 1,
                                .idle = true,
                                .patience = patience};
        if (cst_reached(wait.word, wait.target)) return true;
        cst_wait(thread, &wait);
        /* In the child of a fork no master is left: its only thread ends, and with it the process.
         */
        if (cst_unlikely(seat->team->orphaned)) exit(EXIT_SUCCESS);
        if (cst_likely(cst_reached(wait.word, wait.target))) return true;
        if (cst_workers_retire(seat)) return false;
        patience = cst_workers_patience_again(patience);
    }
}

/* Does what it was told where there is no region. False: the worker is to end, and has told so. */
static bool obey(struct cst_thread *thread, struct cst_seat *seat, uint32_t number,
                 cst_region_function *order) {
    bool ends = order == CST_ORDER_END;
    seat->region = number;
    if (ends)
        cst_thread_end();
    else
        order(thread);
    cst_exchange_seq_cst(&seat->arrived, 2 * number);
    return !ends;
}

void *cst_worker(void *argument) {
    CST_KEEP_FRAME();
    struct cst_seat *seat = argument;
    struct cst_team *team = seat->team;
    struct cst_thread *thread = cst_self();
    thread->worker = true;
    seat->thread = thread;
    thread->team = team;
    thread->seat = seat;
    thread->task = &seat->implicit;
    thread->number = seat->number;
    while (await_order(thread, seat)) {
        if (cst_unlikely(seat->partners > 0)) cst_task_stop_helping(thread);
        uint32_t region = cst_load_acquire(&seat->dock.go);
        cst_happens_after(&seat->dock.go);
        struct cst_dock order = {.go = region,
                                 .size = seat->dock.size,
                                 .barrier = seat->dock.barrier,
                                 .combined = seat->dock.combined,
                                 .crowded = seat->dock.crowded,
                                 .function = seat->dock.function,
                                 .data = seat->dock.data,
                                 .construct = seat->dock.construct,
                                 .singles = seat->dock.singles};
        if (cst_unlikely(order.size == 0)) {
            if (!obey(thread, seat, region, order.function)) return NULL;
            continue;
        }
        fork_children(team, seat->number, &order);
        if (cst_unlikely(seat->traits_number != team->traits_number)) cst_workers_adopt(seat);
        cst_float_adopt(team->float_mode);
        take_seat(thread, seat, region, order.size, order.crowded, order.barrier, order.construct,
                  order.singles);
        if (order.combined) cst_loop_join(thread, order.combined);
        order.function(order.data);
        thread = cst_self();
        arrive(thread, order.size, order.crowded);
    }
    cst_thread_end();
    return NULL;
}
