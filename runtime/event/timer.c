/* Timers of a manager: the public calls, and the delivery of expired timers. */
#include "event/manager.h"

#include <errno.h>

static struct cst_timer *find(struct capstan_manager *manager, uint64_t id) {
    return (struct cst_timer *)cst_table_find(&manager->timers, id);
}

/* The sum, or the end of time. */
static uint64_t after(uint64_t when, uint64_t span) {
    return span > UINT64_MAX - when ? UINT64_MAX : when + span;
}

static void release(struct capstan_manager *manager, struct cst_timer *timer, uint32_t index) {
    cst_table_retire(&manager->timers, &timer->entry);
    cst_table_free(&manager->timers, &timer->entry, index);
}

int capstan_timer_start_at(capstan_manager *manager, uint64_t deadline, uint64_t period,
                           capstan_timer_function *function, void *data, capstan_timer *result) {
    if (function == NULL && !manager->pull) return EINVAL;
    int error = 0;
    uint32_t index;
    cst_event_acquire(&manager->lock);
    struct cst_timer *timer = NULL;
    if (cst_unlikely(cst_load_relaxed(&manager->stopping))) { /* written under the lock */
        error = ESHUTDOWN;
    } else {
        timer = (struct cst_timer *)cst_table_allocate(&manager->timers, &index);
        if (timer == NULL) error = ENOMEM;
    }
    if (timer != NULL) {
        timer->index = index;
        timer->period = period;
        timer->function = function;
        timer->data = data;
        if (result != NULL) *result = cst_table_id(&timer->entry, index);
        cst_wheel_insert(&manager->wheel, &timer->node, deadline);
        cst_loop_wake(manager, deadline);
    }
    cst_event_release(&manager->lock);
    cst_slow_look(manager);
    return error;
}

int capstan_timer_start(capstan_manager *manager, uint64_t delay, uint64_t period,
                        capstan_timer_function *function, void *data, capstan_timer *result) {
    return capstan_timer_start_at(manager, after(cst_clock_ns(), delay), period, function, data,
                                  result);
}

int capstan_timer_reschedule(capstan_manager *manager, capstan_timer id, uint64_t delay) {
    uint64_t deadline = after(cst_clock_ns(), delay);
    cst_event_acquire(&manager->lock);
    struct cst_timer *timer = find(manager, id);
    if (timer != NULL) {
        cst_wheel_reschedule(&manager->wheel, &timer->node, deadline);
        cst_loop_wake(manager, deadline);
    }
    cst_event_release(&manager->lock);
    return timer == NULL ? ENOENT : 0;
}

int capstan_timer_cancel(capstan_manager *manager, capstan_timer id) {
    cst_event_acquire(&manager->lock);
    struct cst_timer *timer = find(manager, id);
    if (timer != NULL) {
        cst_wheel_cancel(&manager->wheel, &timer->node);
        if (!manager->pull) {
            release(manager, timer, (uint32_t)id);
        } else {
            cst_table_retire(&manager->timers, &timer->entry);
            /* Relaxed: the driver reads it without the lock, and again later. */
            timer->entry.next = cst_load_relaxed(&manager->ended_timers);
            cst_store_relaxed(&manager->ended_timers, (uint32_t)id);
            /* Wakes a sleeping puller now and then, so that ended timers do not pile up. */
            if (++manager->ended_timer_count % CST_EVENT_BATCH == 0) cst_loop_wake(manager, 0);
        }
    }
    cst_event_release(&manager->lock);
    return timer == NULL ? ENOENT : 0;
}

/* Fills in `expiry`, and ends the timer unless it repeats. */
static void expire(struct capstan_manager *manager, struct cst_wheel_node *node,
                   uint64_t expirations, struct cst_expiry *expiry) {
    struct cst_timer *timer = (struct cst_timer *)((char *)node - offsetof(struct cst_timer, node));
    uint32_t index = timer->index;
    uint64_t period = timer->period;
    bool last = expirations == 0 || period == 0;
    *expiry = (struct cst_expiry){
        .id = cst_table_id(&timer->entry, index),
        .function = timer->function,
        .data = timer->data,
        .expirations = expirations,
        .last = last,
    };
    if (last) {
        release(manager, timer, index);
        return;
    }
    /* Counted from the deadline, not from now: no drift. */
    uint64_t late = manager->now > node->deadline ? manager->now - node->deadline : 0;
    expiry->expirations = 1 + late / period;
    uint64_t span =
        expiry->expirations > UINT64_MAX / period ? UINT64_MAX : expiry->expirations * period;
    cst_wheel_insert(&manager->wheel, node, after(node->deadline, span));
}

bool cst_timer_take(struct capstan_manager *manager, struct cst_expiry *expiry) {
    cst_event_acquire(&manager->lock);
    struct cst_wheel_node *node = cst_wheel_take(&manager->wheel);
    if (node != NULL) expire(manager, node, 1, expiry);
    cst_event_release(&manager->lock);
    return node != NULL;
}

bool cst_timer_take_any(struct capstan_manager *manager, struct cst_expiry *expiry) {
    cst_event_acquire(&manager->lock);
    cst_wheel_advance(&manager->wheel, UINT64_MAX, SIZE_MAX); /* the end of time: all expire */
    struct cst_wheel_node *node = cst_wheel_take(&manager->wheel);
    if (node != NULL) expire(manager, node, 0, expiry);
    cst_event_release(&manager->lock);
    return node != NULL;
}

bool cst_timer_take_ended(struct capstan_manager *manager, struct cst_expiry *expiry) {
    /* Relaxed: the driver checks again later. */
    if (cst_load_relaxed(&manager->ended_timers) == CST_TABLE_NONE) return false;
    cst_event_acquire(&manager->lock);
    uint32_t index = cst_load_relaxed(&manager->ended_timers);
    if (index != CST_TABLE_NONE) {
        struct cst_timer *timer = (struct cst_timer *)cst_table_at(&manager->timers, index);
        cst_store_relaxed(&manager->ended_timers, timer->entry.next);
        manager->ended_timer_count--;
        *expiry =
            (struct cst_expiry){.function = timer->function, .data = timer->data, .last = true};
        cst_table_free(&manager->timers, &timer->entry, index);
    }
    cst_event_release(&manager->lock);
    return index != CST_TABLE_NONE;
}
