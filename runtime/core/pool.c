/* The process's teams; see pool.h. */
#include "core/pool.h"

#include "core/apart.h"
#include "core/config.h"
#include "core/dispatch.h"
#include "core/runtime.h"
#include "core/turn.h"
#include "core/wait.h"
#include "substrate/substrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    cst_lock lock;                    /* making teams and workers */
    _Atomic(struct cst_team *) teams; /* all of them, linked by next; grows at the front */
    _Atomic uint32_t workers;         /* alive */
    _Atomic uint32_t workers_made;
    _Atomic uint32_t largest_team;
    bool warned;
} pool;

static bool is_for(struct cst_team *team, struct cst_thread *thread) {
    struct cst_thread *keeper = cst_load_relaxed(&team->keeper);
    return !keeper || keeper == thread;
}

static bool lease(struct cst_team *team, struct cst_thread *thread) {
    if (cst_load_relaxed(&team->leased)) return false;
    uint32_t free = 0;
    /* Acquire pairs with the release in cst_pool_return: the last master's writes. */
    if (!cst_cas_acq_rel(&team->leased, &free, 1)) return false;
    if (is_for(team, thread)) return true;
    /* Another thread has come to keep it since we looked. */
    cst_store_release(&team->leased, 0);
    return false;
}

static struct cst_team *make_team(void) {
    struct cst_team *team = aligned_alloc(CST_CACHE_LINE, sizeof *team);
    if (!team) return NULL;
    cst_team_init(team);
    cst_store_relaxed(&team->leased, 1);
    team->next = cst_load_relaxed(&pool.teams);
    cst_store_release(&pool.teams, team); /* pairs with the acquire in find */
    return team;
}

/* A free team that is not another thread's: the smallest that is large enough, or the largest. */
static struct cst_team *find(struct cst_thread *thread, uint32_t threads) {
    for (;;) {
        struct cst_team *best = NULL;
        for (struct cst_team *team = cst_load_acquire(&pool.teams); team; team = team->next) {
            if (cst_load_relaxed(&team->leased) || !is_for(team, thread)) continue;
            uint32_t capacity = cst_load_relaxed(&team->capacity);
            uint32_t found = best ? cst_load_relaxed(&best->capacity) : 0;
            bool better =
                found >= threads ? capacity >= threads && capacity < found : capacity > found;
            if (!best || better) best = team;
        }
        if (!best || lease(best, thread)) return best;
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
    fprintf(stderr,
            "capstan: a thread could not be created (%s): a parallel region that asked for %u "
            "threads runs with %u; see ulimit -u and -v, OMP_NUM_THREADS and OMP_STACKSIZE\n",
            reason, wanted, granted);
}

/* Adds workers until the team has `threads` members or one cannot be made. */
static void enlarge(struct cst_team *team, uint32_t threads) {
    const char *reason = NULL;
    cst_lock_acquire(&pool.lock);
    const struct cst_substrate *substrate = cst_runtime_substrate();
    while (!reason && cst_load_relaxed(&team->capacity) < threads) {
        uint32_t number = cst_load_relaxed(&team->capacity);
        /* Arrays grow with the members that there are, not with those that are asked for. */
        struct cst_seat *seat = cst_team_enlarge(team, number + 1) ? seat_of(team, number) : NULL;
        if (!seat) {
            reason = "no memory";
            break;
        }
        seat->region = team->region;
        cst_store_relaxed(&seat->dock.go, team->region);
        uint32_t index = cst_load_relaxed(&pool.workers_made) + 1;
        cst_thread_provide();
        /* The kernel may leave a new thread where its maker computes for longer than many a region
         * takes. In a team of more members than processors most of them belong there. */
        bool apart = number < cst_config.available;
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
        team = make_team();
        cst_lock_release(&pool.lock);
    }
    *last = team;
    return team;
}

struct cst_team *cst_pool_lease(struct cst_thread *thread, uint32_t threads, bool at_most,
                                uint32_t *granted) {
    bool nested = thread->team->active_level > 0;
    /* Values of threadprivate variables persist from one outermost region of a thread to its next
     * (OpenMP 5.2, section 5.2), unless the team's size is adjusted. */
    bool keep = !nested && !thread->task->icv.dynamic;
    /* The master of a nested region is counted already. */
    struct cst_turn turn = {.threads = threads - nested,
                            .least = 2 - nested,
                            .at_most = at_most,
                            .may_wait = !nested && !keep};
    struct cst_turn_from from;
    threads = cst_turn_take(thread, &turn, &from) + nested;
    *granted = 1;
    if (threads < 2) return NULL;
    if (cst_unlikely(from.team != NULL)) {
        thread->last_team[0] = from.team;
        cst_apart_from(from.processor); /* its worker goes on there */
    }
    struct cst_team *team = choose(thread, threads, keep);
    if (!team) {
        cst_turn_return(threads - nested);
        return NULL;
    }
    struct cst_thread *keeper = keep ? thread : NULL;
    if (cst_load_relaxed(&team->keeper) != keeper) cst_store_relaxed(&team->keeper, keeper);
    if (cst_unlikely(cst_load_relaxed(&team->capacity) < threads)) enlarge(team, threads);
    uint32_t capacity = cst_load_relaxed(&team->capacity);
    *granted = threads < capacity ? threads : capacity;
    if (cst_unlikely(*granted > cst_load_relaxed(&pool.largest_team)))
        cst_store_relaxed(&pool.largest_team, *granted);
    team->counted = *granted - nested;
    if (cst_unlikely(*granted < threads)) cst_turn_return(threads - *granted);
    return team;
}

void cst_pool_forget(struct cst_thread *thread) {
    for (struct cst_team *team = cst_load_acquire(&pool.teams); team; team = team->next)
        if (cst_load_relaxed(&team->keeper) == thread) cst_store_relaxed(&team->keeper, NULL);
    thread->last_team[0] = thread->last_team[1] = NULL;
}

void cst_pool_return(struct cst_team *team) {
    uint32_t counted = team->counted;
    cst_store_relaxed(&team->running, 0);
    /* Pairs with lease. First, so that whoever gets the processors finds the team and makes none.
     */
    cst_store_release(&team->leased, 0);
    cst_turn_return(counted);
}

bool cst_pool_release(void) {
    bool all = true;
    for (struct cst_team *team = cst_load_acquire(&pool.teams); team; team = team->next) {
        if (!lease(team, cst_load_relaxed(&team->keeper))) {
            all = false;
            continue;
        }
        uint32_t capacity = cst_load_relaxed(&team->capacity);
        cst_store_relaxed(&team->capacity, 1);
        team->region++;
        for (uint32_t i = 1; i < capacity; i++) {
            struct cst_seat *seat = cst_team_seat(team, i);
            seat->dock.function = NULL;
            cst_exchange_seq_cst(&seat->dock.go, team->region);
            cst_wake(seat);
            /* Until the worker has left, its seat must not get another. */
            while (!cst_reached(&seat->arrived, 2 * team->region)) cst_yield();
        }
        cst_sub_acq_rel(&pool.workers, capacity - 1);
        cst_store_release(&team->leased, 0);
    }
    return all;
}

void cst_pool_after_fork(void) {
    cst_store_relaxed(&pool.lock, 0);
    /* Their memory is left: a copied stack may hold one. */
    struct cst_team *team = cst_exchange_acquire(&pool.teams, NULL);
    for (; team; team = team->next) team->counted = 0;
    cst_store_relaxed(&pool.workers, 0);
    cst_turn_after_fork();
}

uint32_t cst_pool_workers_made(void) {
    return cst_load_relaxed(&pool.workers_made);
}
uint32_t cst_pool_largest_team(void) {
    return cst_load_relaxed(&pool.largest_team);
}
