/* Permits of other pools; see permit.h. README.md tells how processors are divided. */
#include "core/budget/permit.h"

#include "core/base/lock.h"
#include "core/budget/fair.h"
#include "core/budget/processors.h"
#include "core/host/busy.h"
#include "platform/platform.h"

#include <stdlib.h>

enum {
    OFFER_NS = 1000000,  /* between two divisions that ends or claims of regions cause */
    CLAIM_NS = 10000000, /* a region's claim lapses after this time */
};

struct pool {
    struct pool *next;
    uint64_t number;
    cst_permit_told *told;
};

struct cst_permit {
    struct cst_permit *next; /* the next younger one */
    struct pool *pool;
    struct cst_permit_request request;
    struct cst_permit_view now;
    uint32_t changes; /* that the pool is to be told of */
    uint32_t telling; /* calls of the pool's `told` that are under way */
    bool gone;        /* out of the list, and freed by the last call that returns */
};

/* A call of `told` that this thread is in, as a link of a list. */
struct telling {
    const struct telling *outer;
    const struct cst_permit *permit;
};

/* All fields are under the lock, except the atomic ones. */
static struct {
    cst_lock lock;
    struct pool *pools;
    struct cst_permit *permits;
    uint64_t number;          /* of the last pool */
    _Atomic uint64_t offered; /* time of the last division */
    _Atomic uint32_t claim;   /* threads that a region wanted and did not get in full */
    _Atomic uint64_t claimed; /* time of that region */
} budget;

CST_LINE_ALIGNED _Atomic uint32_t cst_permit_threads;
_Atomic bool cst_permit_unmet;

/* The innermost call of `told` on this thread. A release within the call does not wait for the
 * call's end. */
static _Thread_local const struct telling *told_now __attribute__((tls_model("initial-exec")));

/* --- sharing out, under the lock ---------------------------------------------------------------
 */

/* A rigid permit keeps its number of threads, once it has one. */
static bool is_fixed(const struct cst_permit *permit) {
    return permit->request.rigid && permit->now.threads > 0;
}

static uint32_t least_of(const struct cst_permit *permit) {
    return is_fixed(permit) ? permit->now.threads : permit->request.least;
}

static uint32_t most_of(const struct cst_permit *permit) {
    return is_fixed(permit) ? permit->now.threads : permit->request.most;
}

/* The supply: `total` processors, `room` for permits beside the running regions, and the regions'
 * `claim`. */
struct supply {
    uint32_t total, room, claim;
};

static struct supply supply_now(void) {
    struct supply supply = {.total = cst_processors()};
    uint32_t busy = cst_busy_threads();
    supply.room = supply.total > busy ? supply.total - busy : 0;
    if (cst_clock_coarse_ns() - cst_load_relaxed(&budget.claimed) < CLAIM_NS)
        supply.claim = cst_load_relaxed(&budget.claim);
    if (supply.claim < busy) supply.claim = busy;
    return supply;
}

static uint32_t sum_at(uint32_t level) {
    uint32_t sum = 0;
    for (struct cst_permit *permit = budget.permits; permit; permit = permit->next)
        if (permit->now.state == CST_PERMIT_ACTIVE)
            sum += cst_fair_at(level, least_of(permit), most_of(permit));
    return sum;
}

static bool fits(const void *about, uint32_t level) {
    const struct supply *supply = about;
    uint32_t sum = sum_at(level), claim = cst_fair_at(level, 0, supply->claim);
    return sum <= supply->room && sum + claim <= supply->total;
}

static void set_state(struct cst_permit *permit, enum cst_permit_state state) {
    if (permit->now.state != state) permit->changes |= CST_PERMIT_NEW_STATE;
    permit->now.state = state;
}

/* Permits whose least number does not fit wait (PENDING). Older permits come first. */
static void admit(const struct supply *supply) {
    uint32_t left = supply->total;
    for (struct cst_permit *permit = budget.permits; permit; permit = permit->next) {
        if (permit->now.state != CST_PERMIT_ACTIVE && permit->now.state != CST_PERMIT_PENDING)
            continue;
        bool has_room = least_of(permit) <= left;
        if (has_room) left -= least_of(permit);
        set_state(permit, has_room ? CST_PERMIT_ACTIVE : CST_PERMIT_PENDING);
    }
}

static void give(struct cst_permit *permit, uint32_t threads) {
    if (permit->now.threads != threads) permit->changes |= CST_PERMIT_NEW_THREADS;
    permit->now.threads = threads;
}

/* The processors that the level leaves over; the first permits get one more each. */
static uint32_t left_over(const struct supply *supply, uint32_t level) {
    uint32_t sum = sum_at(level), claim = cst_fair_at(level, 0, supply->claim);
    uint32_t bound = supply->total > claim ? supply->total - claim : 0;
    if (bound > supply->room) bound = supply->room;
    return bound > sum ? bound - sum : 0;
}

static void give_active(struct cst_permit *permit, uint32_t level, uint32_t *over) {
    uint32_t most = most_of(permit), threads = cst_fair_at(level, least_of(permit), most);
    if (*over > 0 && threads < most) {
        threads++;
        --*over;
    }
    give(permit, threads);
}

/* An idle permit keeps all its threads if nobody else wants them, and otherwise loses all. */
static void keep_idle(struct cst_permit *permit, uint32_t *over) {
    if (*over >= permit->now.threads) {
        *over -= permit->now.threads;
        return;
    }
    set_state(permit, CST_PERMIT_INACTIVE);
    give(permit, 0);
}

static void divide(void) {
    struct supply supply = supply_now();
    admit(&supply);
    uint32_t level = cst_fair_level(supply.total, fits, &supply);
    uint32_t over = left_over(&supply, level), sum = 0;
    bool unmet = false;
    for (struct cst_permit *permit = budget.permits; permit; permit = permit->next) {
        if (permit->now.state == CST_PERMIT_ACTIVE)
            give_active(permit, level, &over);
        else if (permit->now.state == CST_PERMIT_PENDING)
            give(permit, 0);
        unmet |= permit->now.state == CST_PERMIT_PENDING ||
                 (permit->now.state == CST_PERMIT_ACTIVE && permit->now.threads < most_of(permit));
    }
    for (struct cst_permit *permit = budget.permits; permit; permit = permit->next) {
        if (permit->now.state == CST_PERMIT_IDLE) keep_idle(permit, &over);
        sum += permit->now.threads;
    }
    cst_store_relaxed(&cst_permit_threads, sum);
    cst_store_relaxed(&cst_permit_unmet, unmet);
    cst_store_relaxed(&budget.offered, cst_clock_coarse_ns());
}

/* --- telling -----------------------------------------------------------------------------------
 */

static void tell(struct cst_permit *permit) {
    uint32_t changes = permit->changes;
    struct telling telling = {told_now, permit};
    permit->changes = 0;
    permit->telling++;
    cst_lock_release(&budget.lock);
    told_now = &telling;
    permit->pool->told(permit, permit->request.argument, changes);
    told_now = telling.outer;
    cst_lock_acquire(&budget.lock);
    if (--permit->telling == 0 && permit->gone) free(permit);
}

/* Tells the pools of the marked changes, then releases the lock. After each call the search starts
 * from the beginning, since the call may have added, removed and changed permits. */
static void tell_and_release(void) {
    struct cst_permit *permit = budget.permits;
    while (permit) {
        bool changed = permit->changes != 0;
        if (changed) tell(permit);
        permit = changed ? budget.permits : permit->next;
    }
    cst_lock_release(&budget.lock);
}

/* Divides anew, and tells the pools. The caller's own pool knows of its own permit. */
static void settle(struct cst_permit *permit) {
    divide();
    if (permit) permit->changes = 0;
    tell_and_release();
}

/* --- pools and permits, under the lock ----------------------------------------------------------
 */

static struct pool *find_pool(uint64_t number) {
    struct pool *pool = budget.pools;
    while (pool && pool->number != number) pool = pool->next;
    return pool;
}

static bool is_known(const struct cst_permit *permit) {
    const struct cst_permit *other = budget.permits;
    while (other && other != permit) other = other->next;
    return other != NULL;
}

static struct cst_permit *make_permit(struct pool *pool) {
    struct cst_permit *permit = calloc(1, sizeof *permit), **last = &budget.permits;
    if (!permit) return NULL;
    permit->pool = pool;
    while (*last) last = &(*last)->next;
    *last = permit;
    return permit;
}

static uint32_t own_calls(const struct cst_permit *permit) {
    uint32_t count = 0;
    for (const struct telling *call = told_now; call; call = call->outer)
        count += call->permit == permit;
    return count;
}

/* Takes the permit out of the list, so that no further call tells of it. Then waits for calls that
 * are under way, except the calls that this thread is in. */
static void forget(struct cst_permit *permit) {
    struct cst_permit **link = &budget.permits;
    while (*link != permit) link = &(*link)->next;
    *link = permit->next;
    while (permit->telling > own_calls(permit)) {
        cst_lock_release(&budget.lock);
        cst_yield();
        cst_lock_acquire(&budget.lock);
    }
    permit->gone = true;
    if (permit->telling == 0) free(permit);
}

uint64_t cst_permit_connect(cst_permit_told *told) {
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool) return 0;
    cst_lock_acquire(&budget.lock);
    pool->told = told;
    pool->next = budget.pools;
    uint64_t number = pool->number = ++budget.number;
    budget.pools = pool;
    cst_lock_release(&budget.lock);
    return number;
}

static struct cst_permit *permit_of(const struct pool *pool) {
    struct cst_permit *permit = budget.permits;
    while (permit && permit->pool != pool) permit = permit->next;
    return permit;
}

enum cst_permit_result cst_permit_disconnect(uint64_t number) {
    cst_lock_acquire(&budget.lock);
    struct pool *pool = find_pool(number), **link = &budget.pools;
    if (pool) {
        while (*link != pool) link = &(*link)->next;
        *link = pool->next;
        for (struct cst_permit *permit; (permit = permit_of(pool));) forget(permit);
        divide();
    }
    tell_and_release();
    free(pool);
    return pool ? CST_PERMIT_DONE : CST_PERMIT_WRONG;
}

/* --- calls --------------------------------------------------------------------------------------
 */

enum cst_permit_result cst_permit_request(uint64_t number, const struct cst_permit_request *request,
                                          struct cst_permit **permit) {
    if (request->least > request->most || request->least > cst_processors())
        return CST_PERMIT_WRONG;
    enum cst_permit_result result = CST_PERMIT_DONE;
    cst_lock_acquire(&budget.lock);
    struct pool *pool = find_pool(number);
    if (!pool || (*permit && !is_known(*permit))) {
        result = CST_PERMIT_WRONG;
    } else if (!*permit && !(*permit = make_permit(pool))) {
        result = CST_PERMIT_NO_MEMORY;
    } else {
        (*permit)->request = *request;
        (*permit)->now.threads = 0; /* a rigid permit has no number to keep yet */
        (*permit)->now.state = request->inactive ? CST_PERMIT_INACTIVE : CST_PERMIT_ACTIVE;
        settle(*permit);
        return CST_PERMIT_DONE;
    }
    cst_lock_release(&budget.lock);
    return result;
}

enum cst_permit_result cst_permit_set(struct cst_permit *permit, enum cst_permit_state state) {
    cst_lock_acquire(&budget.lock);
    if (!is_known(permit) ||
        (state == CST_PERMIT_IDLE && permit->now.state == CST_PERMIT_INACTIVE)) {
        cst_lock_release(&budget.lock);
        return CST_PERMIT_WRONG;
    }
    permit->now.state = state;
    if (state == CST_PERMIT_INACTIVE) permit->now.threads = 0;
    settle(permit);
    return CST_PERMIT_DONE;
}

enum cst_permit_result cst_permit_view(const struct cst_permit *permit,
                                       struct cst_permit_view *view) {
    cst_lock_acquire(&budget.lock);
    bool known = is_known(permit);
    if (known) *view = permit->now;
    cst_lock_release(&budget.lock);
    return known ? CST_PERMIT_DONE : CST_PERMIT_WRONG;
}

enum cst_permit_result cst_permit_release(struct cst_permit *permit) {
    cst_lock_acquire(&budget.lock);
    bool known = is_known(permit);
    if (known) {
        forget(permit);
        divide();
    }
    tell_and_release();
    return known ? CST_PERMIT_DONE : CST_PERMIT_WRONG;
}

/* --- regions ------------------------------------------------------------------------------------
 */

/* May the caller divide anew, or was the last division less than OFFER_NS ago? */
static bool is_time(void) {
    return cst_clock_coarse_ns() - cst_load_relaxed(&budget.offered) >= OFFER_NS;
}

static void look(void) {
    cst_lock_acquire(&budget.lock);
    settle(NULL);
}

uint32_t cst_permit_leave_some(uint32_t threads) {
    uint32_t total = cst_processors(), granted = cst_load_relaxed(&cst_permit_threads);
    uint32_t left = total > granted ? total - granted : 1;
    if (threads <= left) return threads;
    cst_store_relaxed(&budget.claim, threads < total ? threads : total);
    cst_store_relaxed(&budget.claimed, cst_clock_coarse_ns());
    if (is_time()) look();
    return left;
}

/* A worker that falls asleep while no region runs drops the regions' claim. */
void cst_permit_offer_some(bool region) {
    if (!region && cst_busy_threads() == 0) cst_store_relaxed(&budget.claim, 0);
    if (!region || is_time()) look();
}

void cst_permit_before_fork(void) {
    cst_lock_acquire(&budget.lock);
}

void cst_permit_after_fork(void) {
    cst_lock_release(&budget.lock);
}
