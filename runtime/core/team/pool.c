/* The process's teams; see pool.h. */
#include "core/team/pool.h"

#include "core/wait/apart.h"
#include "core/wait/policy.h"
#include "core/settings/config.h"
#include "core/work/dispatch.h"
#include "core/base/message.h"
#include "core/budget/share.h"
#include "core/host/host.h"
#include "core/team/region.h"
#include "core/team/team.h"
#include "core/team/threads.h"
#include "core/wait/announce.h"
#include "core/wait/turn.h"
#include "core/team/workers.h"
#include "platform/happens.h"
#include "substrate/substrate.h"

#include <stdlib.h>
#include <string.h>

static struct {
    cst_lock lock;                    /* for making teams and workers */
    _Atomic(struct cst_team *) teams; /* all of them, linked by next; grows at the front */
    _Atomic uint32_t workers;         /* alive */
    _Atomic uint32_t workers_made;
    _Atomic uint32_t largest_team;
    bool warned;
} pool;

/* May the thread lease the team? A team without a keeper is for masters whose class its workers
 * have. */
static bool is_for(struct cst_team *team, struct cst_thread *thread) {
    struct cst_thread *keeper = cst_load_relaxed(&team->keeper);
    if (keeper) return keeper == thread;
    if (cst_load_relaxed(&team->served) == thread->identity) return true;
    if (cst_load_relaxed(&team->capacity) == 1) return true;
    for (int i = 0; i < CST_CLASS_WORDS; i++)
        if (cst_load_relaxed(&team->class[i]) != thread->class.word[i]) return false;
    return true;
}

/* Acquire pairs with the release in cst_pool_return: the new master sees the last one's writes. */
static bool take(struct cst_team *team, enum cst_lease lease) {
    uint32_t none = CST_LEASE_NONE;
    if (cst_load_relaxed(&team->leased) || !cst_cas_acquire(&team->leased, &none, lease))
        return false;
    cst_happens_after(&team->leased);
    return true;
}

static bool lease(struct cst_team *team, struct cst_thread *thread) {
    if (!take(team, CST_LEASE_MASTER)) return false;
    if (is_for(team, thread)) return true;
    cst_pool_release_idle(team); /* meanwhile another thread has become its keeper */
    return false;
}

static struct cst_team *make_team(const struct cst_thread *master) {
    struct cst_team *team = cst_team_make();
    if (!team) return NULL;
    cst_store_relaxed(&team->leased, CST_LEASE_MASTER);
    team->traits = master->traits;
    team->next = cst_load_relaxed(&pool.teams);
    cst_store_release(&pool.teams, team); /* pairs with the acquire in find */
    return team;
}

/* Finds a free team that no other thread keeps: the smallest that is large enough, or the largest.
 * A thread may hold that team briefly, to give its workers an order. The master then waits: a new
 * team would have workers without a processor. */
static struct cst_team *find(struct cst_thread *thread, uint32_t threads) {
    for (;;) {
        struct cst_team *best = NULL;
        for (struct cst_team *team = cst_load_acquire(&pool.teams); team; team = team->next) {
            bool taken = cst_load_relaxed(&team->leased) == CST_LEASE_MASTER;
            if (taken || !is_for(team, thread)) continue;
            uint32_t capacity = cst_load_relaxed(&team->capacity);
            uint32_t found = best ? cst_load_relaxed(&best->capacity) : 0;
            bool better =
                found >= threads ? capacity >= threads && capacity < found : capacity > found;
            if (!best || better) best = team;
        }
        if (!best || lease(best, thread)) return best;
        if (cst_load_relaxed(&best->leased) == CST_LEASE_BRIEF) cst_yield();
    }
}

static struct cst_seat *seat_of(struct cst_team *team, uint32_t number) {
    struct cst_seat **seats = cst_load_relaxed(&team->seats);
    if (!seats[number]) {
        struct cst_seat *seat = aligned_alloc(CST_CACHE_LINE, sizeof *seat);
        if (!seat) return NULL;
        cst_seat_init(seat, team, number);
        seats[number] = seat;
    }
    return seats[number];
}

static void warn(uint32_t wanted, uint32_t granted, const char *reason) {
    if (pool.warned) return;
    pool.warned = true;
    cst_message("a thread could not be created (%s): a parallel region that asked for %u threads "
                "runs with %u; see ulimit -u and -v, OMP_NUM_THREADS and OMP_STACKSIZE",
                reason, wanted, granted);
}

/* Adds workers until the team has `threads` members or one cannot be made. The first one starts the
 * substrate, which waits and opens files. */
static void enlarge(struct cst_team *team, uint32_t threads) {
    const char *reason = NULL;
    int held = cst_cancellation_hold();
    cst_lock_acquire(&pool.lock);
    const struct cst_substrate *substrate = cst_host_substrate();
    while (!reason && cst_load_relaxed(&team->capacity) < threads) {
        uint32_t number = cst_load_relaxed(&team->capacity);
        /* Arrays grow with the members that exist, not with the number that the region asks for. */
        struct cst_seat *seat = cst_team_enlarge(team, number + 1) ? seat_of(team, number) : NULL;
        if (!seat) {
            reason = "no memory";
            break;
        }
        seat->region = team->region;
        seat->traits_number = team->traits_number;
        seat->at_end = true;
        cst_store_relaxed(&seat->dock.go, team->region);
        uint32_t index = cst_load_relaxed(&pool.workers_made) + 1;
        if (!cst_thread_provide()) {
            reason = "no memory";
            break;
        }
        /* The kernel may leave a new thread on its maker's processor for longer than many regions
         * take. In a team of more members than processors most members belong there. */
        bool apart = number < cst_config.available && cst_heuristic_is_on(CST_HEURISTIC_NEWCOMER);
        int error = substrate->spawn(cst_worker, seat, index, cst_config.stack_size, apart);
        if (error) {
            reason = strerror(error);
            break;
        }
        cst_store_relaxed(&pool.workers_made, index);
        cst_add_relaxed(&pool.workers, 1);
        cst_store_relaxed(&team->capacity, number + 1);
    }
    cst_dispatch_enlarge(team, cst_load_relaxed(&team->capacity));
    if (reason) warn(threads, cst_load_relaxed(&team->capacity), reason);
    cst_lock_release(&pool.lock);
    cst_cancellation_release(held);
}

/* The team that the thread had last at this kind of level; else a free one; else a new one. */
static struct cst_team *choose(struct cst_thread *thread, uint32_t threads, bool keep) {
    struct cst_team **last = &thread->last_team[thread->team->active_level > 0];
    struct cst_team *team = *last;
    /* A kept team grows, so that its first members stay the same threads. */
    if (team && (keep || cst_load_relaxed(&team->capacity) >= threads) && lease(team, thread))
        return team;
    team = find(thread, threads);
    if (!team) {
        cst_lock_acquire(&pool.lock);
        team = make_team(thread);
        if (!team) warn(threads, 1, "no memory");
        cst_lock_release(&pool.lock);
    }
    *last = team;
    return team;
}

/* The turn comes with a team whose workers are awake, and with the processor of one of them. */
static void take_over(struct cst_thread *thread, const struct cst_turn_from *from) {
    thread->last_team[0] = from->team;
    cst_apart_from(from->processor); /* the team's worker goes on there */
}

void cst_pool_announce(struct cst_thread *thread) {
    struct cst_turn_from from;
    bool keep = thread->task->icv.dynamic == CST_DYNAMIC_OFF;
    cst_turn_announce(thread, thread->task->icv.nthreads, keep ? NULL : thread->last_team[0],
                      &from);
    if (from.team && !keep) take_over(thread, &from);
}

struct cst_team *cst_pool_lease(struct cst_thread *thread, uint32_t threads, enum cst_shrink shrink,
                                uint32_t *granted) {
    bool nested = thread->team->active_level > 0;
    if (cst_unlikely(cst_load_relaxed(&cst_host_forks) > 0)) cst_host_notice_fork();
    if (cst_unlikely(!thread->has_traits)) cst_workers_learn_traits(thread);
    cst_host_note_region();
    /* Values of threadprivate variables persist from one outermost region of a thread to its next
     * (OpenMP 5.2, section 5.2), unless the team's size is adjusted. */
    bool keep = !nested && thread->task->icv.dynamic == CST_DYNAMIC_OFF;
    /* The master of a nested region already counts. */
    struct cst_turn turn = {.threads = threads - nested,
                            .least = 2 - nested,
                            .at_most = shrink == CST_SHRINK_TO_IDLE,
                            .may_wait = !nested && !keep};
    if (!nested) cst_announce_opens(&thread->asking);
    struct cst_turn_from from;
    uint32_t shared;
    turn.threads = cst_share_take(turn.threads, turn.least, shrink != CST_SHRINK_NEVER, &shared);
    threads =
        (turn.threads < turn.least ? turn.threads : cst_turn_take(thread, &turn, &from)) + nested;
    *granted = 1;
    if (threads < 2) {
        cst_share_return(shared);
        return NULL;
    }
    if (cst_unlikely(from.team != NULL)) take_over(thread, &from);
    struct cst_team *team = choose(thread, threads, keep);
    if (!team) {
        cst_turn_return(threads - nested);
        cst_share_return(shared);
        return NULL;
    }
    if (cst_unlikely(cst_load_relaxed(&team->capacity) == 1))
        for (int i = 0; i < CST_CLASS_WORDS; i++)
            cst_store_relaxed(&team->class[i], thread -> class.word[i]);
    cst_workers_serve(thread, team);
    struct cst_thread *keeper = keep ? thread : NULL;
    if (cst_load_relaxed(&team->keeper) != keeper) cst_store_relaxed(&team->keeper, keeper);
    if (cst_unlikely(cst_load_relaxed(&team->capacity) < threads)) enlarge(team, threads);
    uint32_t capacity = cst_load_relaxed(&team->capacity);
    *granted = threads < capacity ? threads : capacity;
    if (cst_unlikely(*granted > cst_load_relaxed(&pool.largest_team)))
        cst_store_relaxed(&pool.largest_team, *granted);
    team->counted = *granted - nested;
    team->shared = shared;
    if (cst_unlikely(*granted < threads)) cst_turn_return(threads - *granted);
    return team;
}

void cst_pool_forget(struct cst_thread *thread) {
    for (struct cst_team *team = cst_load_acquire(&pool.teams); team; team = team->next)
        if (cst_load_relaxed(&team->keeper) == thread) cst_store_relaxed(&team->keeper, NULL);
    thread->last_team[0] = thread->last_team[1] = NULL;
}

#if CST_CHECK_LEVEL >= 2
/* No thread makes a worker while this one has the lock, and the pool counts ended workers before
 * their teams shrink. */
void cst_pool_validate(const struct cst_team *returned) {
    uint32_t found = 0, seats = 0;
    cst_lock_acquire(&pool.lock);
    for (struct cst_team *team = cst_load_acquire(&pool.teams); team; team = team->next) {
        uint32_t capacity = cst_load_relaxed(&team->capacity);
        cst_check(cst_load_relaxed(&team->leased) <= CST_LEASE_BRIEF);
        cst_check(capacity >= 1);
        seats += capacity - 1;
        found += team == returned;
    }
    cst_check(found == 1 || returned->orphaned);
    cst_check(cst_load_relaxed(&pool.workers) <= seats);
    cst_check(cst_load_relaxed(&pool.workers) <= cst_load_relaxed(&pool.workers_made));
    cst_lock_release(&pool.lock);
}
#endif

void cst_pool_return(struct cst_team *team) {
    uint32_t counted = team->counted, shared = team->shared;
    cst_pool_validate(team);
    cst_happens_before(&team->leased);
    cst_store_relaxed(&team->running, 0);
    /* Pairs with take. This comes first, so that the thread which gets the processors finds the
     * team and makes none. */
    cst_store_release(&team->leased, CST_LEASE_NONE);
    cst_turn_return(counted);
    cst_share_return(shared);
}

struct cst_team *cst_pool_teams(void) {
    return cst_load_acquire(&pool.teams);
}

bool cst_pool_lease_idle(struct cst_team *team) {
    return take(team, CST_LEASE_BRIEF);
}

void cst_pool_release_idle(struct cst_team *team) {
    cst_happens_before(&team->leased);
    cst_store_release(&team->leased, CST_LEASE_NONE); /* pairs with take */
}

bool cst_pool_count_ended(struct cst_team *team, bool only_surplus) {
    uint32_t count = cst_load_relaxed(&team->capacity) - 1;
    cst_lock_acquire(&pool.lock);
    bool may_end = !only_surplus || cst_load_relaxed(&pool.workers) > cst_config.available;
    if (may_end) cst_sub_relaxed(&pool.workers, count);
    cst_lock_release(&pool.lock);
    return may_end;
}

bool cst_pool_without_workers(void (*act)(void)) {
    cst_lock_acquire(&pool.lock);
    bool none = cst_load_relaxed(&pool.workers) == 0;
    if (none) act();
    cst_lock_release(&pool.lock);
    return none;
}

void cst_pool_after_fork(void) {
    cst_store_relaxed(&pool.lock, 0);
    /* The teams' memory stays, as a copied stack may refer to one. */
    struct cst_team *team = cst_exchange_acquire(&pool.teams, NULL);
    for (; team; team = team->next) team->counted = team->shared = 0;
    cst_store_relaxed(&pool.workers, 0);
    cst_turn_after_fork();
    cst_share_after_fork();
}

uint32_t cst_pool_workers_made(void) {
    return cst_load_relaxed(&pool.workers_made);
}
uint32_t cst_pool_largest_team(void) {
    return cst_load_relaxed(&pool.largest_team);
}
