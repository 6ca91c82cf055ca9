/* Workers of teams that no master has leased; see workers.h. */
#include "core/team/workers.h"

#include "core/settings/config.h"
#include "core/team/pool.h"
#include "core/team/region.h"
#include "core/team/threads.h"
#include "core/wait/wait.h"
#include "platform/platform.h"

/* --- orders ----------------------------------------------------------------------------- */

/* Gives all workers but `self` an order other than a region, and waits until they have obeyed. The
 * caller has leased the team. */
static void command(struct cst_team *team, cst_region_function *order, uint32_t self) {
    uint32_t capacity = cst_load_relaxed(&team->capacity);
    team->region++;
    for (uint32_t i = 1; i < capacity; i++) {
        struct cst_seat *seat = cst_team_seat(team, i);
        if (i == self) continue;
        seat->dock.order = (struct cst_order){.size = 0, .function = order};
        cst_exchange_seq_cst(&seat->dock.go, team->region);
        cst_wake(seat);
    }
    /* Until a worker has left, its seat must get neither a new worker nor a next order. */
    for (uint32_t i = 1; i < capacity; i++)
        while (i != self && !cst_reached(&cst_team_seat(team, i)->arrived, 2 * team->region))
            cst_yield();
}

/* Ends the team's workers but `self`, which will end by itself. */
static void end_workers(struct cst_team *team, uint32_t self) {
    command(team, CST_ORDER_END, self);
    cst_store_relaxed(&team->capacity, 1);
}

/* Ends the workers of a team that the caller has leased. */
static void end_idle(struct cst_team *team) {
    cst_pool_count_ended(team, false);
    end_workers(team, 0);
}

bool cst_workers_end(bool kept) {
    bool all = true;
    for (struct cst_team *team = cst_pool_teams(); team; team = team->next) {
        if (!kept && cst_load_relaxed(&team->keeper)) continue;
        if (!cst_pool_lease_idle(team)) {
            all = false;
            continue;
        }
        end_idle(team);
        cst_pool_release_idle(team);
    }
    return all;
}

/* --- traits ----------------------------------------------------------------------------- */

void cst_workers_learn_traits(struct cst_thread *master) {
    uint64_t *own = &master->class.word[CST_CLASS_OWN];
    uint64_t family = *own ? *own : master->identity;
    cst_thread_traits_get(&master->traits);
    master->class = cst_thread_class_get();
    if (*own) *own = family;
    master->has_traits = true;
}

void cst_workers_serve(struct cst_thread *master, struct cst_team *team) {
    if (cst_likely(cst_load_relaxed(&team->served) == master->identity)) return;
    cst_store_relaxed(&team->served, master->identity);
    if (cst_thread_traits_same(&team->traits, &master->traits)) return;
    team->traits = master->traits;
    team->traits_number++;
}

void cst_workers_adopt(struct cst_seat *seat) {
    struct cst_team *team = seat->team;
    seat->traits_number = team->traits_number;
    /* A thread that is bound to places has its processors from its place. */
    cst_thread_traits_adopt(&team->traits, seat->bound_place == 0);
}

/* Is the thread in a region of the team? Then it ends within the region, and no thread returns the
 * team. */
static bool is_in_region(const struct cst_thread *thread, const struct cst_team *team) {
    const struct cst_team *open = thread->team;
    while (open && open != team) open = open->enclosing;
    return open != NULL;
}

/* Prepares a team, which the caller has leased, for the end of its last master. */
static void leave_to_nobody(struct cst_team *team, uint64_t own) {
    if (own != 0 && cst_load_relaxed(&team->class[CST_CLASS_OWN]) == own)
        end_idle(team);
    else
        command(team, CST_ORDER_BLOCK_SIGNALS, 0);
    sigfillset(&team->traits.blocked);
    team->traits_number++;
    cst_store_relaxed(&team->served, 0);
}

void cst_workers_lose_master(struct cst_thread *master) {
    uint64_t own = master->class.word[CST_CLASS_OWN];
    for (struct cst_team *team = cst_pool_teams(); team; team = team->next) {
        if (is_in_region(master, team)) continue;
        /* A thread that has leased the team meanwhile becomes its master, or gives it back at once.
         * The latter is another ending thread, which finds that it is not the team's last
         * master. */
        while (cst_load_relaxed(&team->served) == master->identity) {
            if (!cst_pool_lease_idle(team)) {
                cst_yield();
                continue;
            }
            if (cst_load_relaxed(&team->served) == master->identity) leave_to_nobody(team, own);
            cst_pool_release_idle(team);
        }
    }
}

/* --- retirement ------------------------------------------------------------------------- */

uint64_t cst_workers_patience(struct cst_team *team) {
    enum { NS_OF_MS = 1000000 };
    const uint64_t most = UINT64_MAX / NS_OF_MS / 2;
    uint64_t idle_ms = cst_config.idle_ms;
    if (idle_ms == UINT64_MAX || cst_load_relaxed(&team->keeper)) return 0;
    return idle_ms > 0 ? (idle_ms < most ? idle_ms : most) * NS_OF_MS : 1;
}

/* The time until a worker that may not end now asks again: its patience, and at least a second. */
static uint64_t later(uint64_t patience) {
    enum { LOOK_NS = 1000000000 };
    return patience > LOOK_NS ? patience : LOOK_NS;
}

bool cst_workers_retire(struct cst_seat *seat, uint64_t *patience) {
    struct cst_team *team = seat->team;
    uint64_t asked_after = *patience;
    *patience = cst_thread_tells_main_ends() ? 0 : later(asked_after);
    if (cst_load_relaxed(&team->keeper)) return false;
    if (!cst_pool_lease_idle(team)) {
        *patience = later(asked_after); /* an ending thread may have the lease for a moment */
        return false;
    }
    /* No other thread gives an order during the lease. An earlier order is obeyed first. */
    if (cst_reached(&seat->dock.go, seat->region + 1) ||
        !cst_pool_count_ended(team, !cst_thread_main_has_ended())) {
        cst_pool_release_idle(team);
        return false;
    }
    end_workers(team, seat->number);
    seat->region = team->region;
    cst_store_relaxed(&seat->dock.go, team->region);
    cst_store_relaxed(&seat->arrived, 2 * team->region);
    cst_pool_release_idle(team);
    return true;
}
