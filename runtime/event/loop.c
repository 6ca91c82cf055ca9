/* The driver: it asks the kernel, collects the due calls, makes them, and sleeps.
 *
 * Sleep: under `lock` the driver looks at timers and posts. If nothing is due, it stores the time
 * until which it will sleep. A thread that adds an earlier call, under the same lock, wakes it
 * once. A driver that is awake is never woken: it takes the lock again before it sleeps. */
#include "event/deliver.h"

#include <errno.h>
#include <pthread.h>

void cst_loop_wake(struct capstan_manager *manager, uint64_t when) {
    if (manager->sleeping_until <= when || manager->woken) return;
    manager->woken = true;
    CST_COUNT(manager->statistics.wake_ups, 1);
    /* The lock is held, so that the poller is not replaced meanwhile. */
    manager->ops->wake(manager->poller);
}

void cst_loop_add_chore(struct capstan_manager *manager, uint32_t chore) {
    cst_event_acquire(&manager->lock);
    /* Relaxed: the driver reads it under the lock. */
    cst_store_relaxed(&manager->chores, cst_load_relaxed(&manager->chores) | chore);
    cst_loop_wake(manager, 0);
    cst_event_release(&manager->lock);
}

static uintptr_t self(void) {
    return (uintptr_t)pthread_self();
}

int cst_loop_enter(struct capstan_manager *manager) {
    uintptr_t none = 0;
    /* Acquires the last driver's writes; pairs with the release in cst_loop_leave. */
    return cst_cas_acquire(&manager->driver, &none, self()) ? 0 : EBUSY;
}

/* Ends a batch of calls: capstan_quiesce may return. */
static void next_batch(struct capstan_manager *manager) {
    /* Release: the writes of the calls; pairs with capstan_quiesce. Relaxed load: it sees each
     * thread that counted itself before the driver last held the lock. A thread that came later may
     * wait for the next batch, before whose end the driver holds the lock again. */
    cst_store_release(&manager->batch, cst_load_relaxed(&manager->batch) + 1);
    if (cst_load_relaxed(&manager->quiescing) != 0) cst_futex_wake(&manager->batch, INT32_MAX);
}

void cst_loop_leave(struct capstan_manager *manager) {
    cst_event_acquire(&manager->lock);
    /* Release: pairs with cst_loop_enter. It is under the lock, as capstan_quiesce reads it
     * there. */
    cst_store_release(&manager->driver, 0);
    cst_event_release(&manager->lock);
    next_batch(manager);
}

/* The time for which the driver may sleep, at most `timeout`. Stores the end of the sleep. Lock
 * held. */
static uint64_t sleep_span(struct capstan_manager *manager, uint64_t timeout) {
    struct cst_post_list *running = &manager->running;
    bool work = manager->posts.count > 0 || running->next < running->count ||
                cst_load_relaxed(&manager->chores) != 0 || cst_load_relaxed(&manager->stopping);
    uint64_t next = cst_wheel_next(&manager->wheel);
    if (work || timeout == 0 || next == 0) return 0;
    uint64_t until = UINT64_MAX;
    if (next != CST_WHEEL_NEVER || timeout != CAPSTAN_FOREVER) {
        uint64_t now = cst_clock_ns();
        if (next <= now) return 0;
        if (next != CST_WHEEL_NEVER && next - now < timeout) timeout = next - now;
        if (timeout < UINT64_MAX - now) until = now + timeout;
    }
    manager->sleeping_until = until;
    manager->woken = false;
    return timeout;
}

void cst_loop_take_posts(struct capstan_manager *manager) {
    struct cst_post_list *running = &manager->running;
    if (running->next < running->count || manager->posts.count == 0) return;
    struct cst_post_list empty = *running;
    empty.count = empty.next = 0;
    *running = manager->posts;
    manager->posts = empty;
}

static int leave_fork(struct capstan_manager *manager) {
    if (!cst_load_relaxed(&manager->forked)) return 0;
    cst_event_acquire(&manager->fd_lock);
    int error = cst_rebuild_after_fork(manager);
    cst_event_release(&manager->fd_lock);
    return error;
}

int cst_loop_collect(struct capstan_manager *manager, uint64_t timeout) {
    int error = leave_fork(manager);
    if (error != 0) return error;
    cst_event_acquire(&manager->lock);
    manager->outstanding = false;
    timeout = sleep_span(manager, timeout);
    uint32_t chores = cst_load_relaxed(&manager->chores); /* cleared under the lock */
    if (cst_unlikely(chores != 0)) cst_store_relaxed(&manager->chores, 0);
    cst_event_release(&manager->lock);
    next_batch(manager);
    /* Without a free descriptor the closed file stays; its next report asks again. */
    if (cst_unlikely(chores & CST_CHORE_REBUILD)) cst_rebuild(manager);
    if (timeout != 0) manager->meter.waits++;
    int64_t span = timeout > INT64_MAX ? -1 : (int64_t)timeout;
    int count = manager->ops->wait(manager->poller, manager->ready, CST_EVENT_BATCH, span);
    CST_COUNT(manager->statistics.turns, 1);
    cst_event_acquire(&manager->lock);
    manager->sleeping_until = 0;
    cst_loop_take_posts(manager);
    if (manager->wheel.count > 0) {
        manager->now = cst_clock_ns();
        cst_wheel_advance(&manager->wheel, manager->now, CST_EVENT_TIMER_BUDGET);
    }
    cst_event_release(&manager->lock);
    manager->ready_next = manager->ready;
    manager->ready_end = manager->ready + (count < 0 ? 0 : count);
    return count < 0 ? -count : 0;
}

static inline void before_call(struct capstan_manager *manager, void *function, int fd) {
    cst_store_relaxed(&manager->calling, function); /* hints, for reports alone */
    cst_store_relaxed(&manager->calling_fd, fd);
}

static inline void after_call(struct capstan_manager *manager) {
    if (cst_unlikely(++manager->meter.calls >= manager->meter.every)) cst_slow_check(manager);
}

static inline void call_for_fd(struct capstan_manager *manager,
                               const struct cst_delivery *delivery) {
    before_call(manager, (void *)delivery->function, delivery->fd);
    delivery->function(manager, delivery->id, delivery->fd, delivery->events, delivery->data);
    after_call(manager);
}

/* Makes the calls of the common case, up to the first report of another case. `delivery` stays in
 * registers, as its address is not passed on. To find a registration takes two dependent reads, and
 * a third reads it. For the next registration all three proceed while this function runs. The
 * function may fork: then nothing is left for the child. */
static unsigned dispatch_directly(struct capstan_manager *manager) {
    const struct cst_ready *ready = manager->ready_next;
    struct cst_delivery delivery;
    unsigned calls = 0;
    if (ready == manager->ready_end) return 0;
    struct cst_watch *watch = cst_deliver_find(manager, ready);
    while (ready < manager->ready_end && cst_deliver_directly(ready, watch, &delivery)) {
        manager->ready_next = ++ready;
        if (ready < manager->ready_end) {
            watch = cst_deliver_find(manager, ready);
            __builtin_prefetch(watch);
        }
        call_for_fd(manager, &delivery);
        calls++;
    }
    return calls;
}

static unsigned dispatch_fds(struct capstan_manager *manager) {
    struct cst_delivery other;
    for (unsigned calls = 0;; calls++) {
        if (manager->wanting.fd < 0) calls += dispatch_directly(manager);
        if (!cst_deliver_slowly(manager, &other)) return calls;
        call_for_fd(manager, &other);
    }
}

static unsigned dispatch_timers(struct capstan_manager *manager) {
    unsigned calls = 0;
    struct cst_expiry expiry;
    /* Bounded: a function may start timers that are due at once. */
    for (; calls < CST_EVENT_TIMER_BUDGET && cst_timer_take(manager, &expiry); calls++) {
        before_call(manager, (void *)expiry.function, -1);
        expiry.function(manager, expiry.id, expiry.expirations, expiry.data);
        after_call(manager);
    }
    return calls;
}

static unsigned dispatch_posts(struct capstan_manager *manager) {
    unsigned calls = 0;
    struct cst_post post;
    for (; cst_post_take(manager, &post); calls++) {
        before_call(manager, (void *)post.function, -1);
        post.function(manager, post.data);
        after_call(manager);
    }
    return calls;
}

unsigned cst_loop_dispatch(struct capstan_manager *manager) {
    cst_slow_begin(manager);
    unsigned fds = dispatch_fds(manager);
    unsigned timers = dispatch_timers(manager);
    unsigned posts = dispatch_posts(manager);
    cst_slow_end(manager);
    CST_COUNT(manager->statistics.fd_calls, fds);
    CST_COUNT(manager->statistics.timer_calls, timers);
    CST_COUNT(manager->statistics.post_calls, posts);
    return fds + timers + posts;
}

static bool stopped(struct capstan_manager *manager) {
    /* Relaxed: the thread that sets it also wakes the driver, under the lock. */
    return cst_load_relaxed(&manager->stopping);
}

int cst_loop_run(struct capstan_manager *manager) {
    int error = cst_loop_enter(manager);
    if (error != 0) return error;
    while (error == 0 && !stopped(manager)) {
        error = cst_loop_collect(manager, CAPSTAN_FOREVER);
        if (error == 0) cst_loop_dispatch(manager);
    }
    cst_loop_leave(manager);
    return error;
}

int capstan_loop(capstan_manager *manager) {
    return manager->pull || manager->is_default ? EINVAL : cst_loop_run(manager);
}

int capstan_step(capstan_manager *manager, uint64_t timeout, unsigned *calls) {
    if (calls != NULL) *calls = 0;
    if (manager->pull || manager->is_default) return EINVAL;
    if (stopped(manager)) return ESHUTDOWN;
    int error = cst_loop_enter(manager);
    if (error != 0) return error;
    error = cst_loop_collect(manager, timeout);
    unsigned made = error == 0 ? cst_loop_dispatch(manager) : 0;
    if (calls != NULL) *calls = made;
    cst_loop_leave(manager);
    return error;
}

void capstan_shutdown(capstan_manager *manager) {
    cst_event_acquire(&manager->fd_lock);
    cst_event_acquire(&manager->lock);
    cst_store_relaxed(&manager->stopping, 1); /* read under either lock, or by the driver */
    cst_loop_wake(manager, 0);
    cst_event_release(&manager->lock);
    cst_event_release(&manager->fd_lock);
}

/* May a function of the user be running? Lock held. */
static bool may_be_calling(struct capstan_manager *manager) {
    uintptr_t driver = cst_load_relaxed(&manager->driver); /* cleared under the lock */
    if (driver == self() || manager->sleeping_until != 0) return false;
    return driver != 0 || manager->outstanding;
}

void capstan_quiesce(capstan_manager *manager) {
    cst_add_relaxed(&manager->quiescing, 1); /* see next_batch */
    cst_event_acquire(&manager->lock);
    bool calling = may_be_calling(manager);
    uint32_t batch = cst_load_relaxed(&manager->batch); /* this or a later batch: the lock orders */
    cst_event_release(&manager->lock);
    while (calling && cst_load_acquire(&manager->batch) == batch)
        cst_futex_wait(&manager->batch, batch);
    cst_sub_relaxed(&manager->quiescing, 1);
}
