/* A manager's life, and its statistics. */
#include "event/manager.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t DEFAULT_SLOW_LIMIT = 50 * 1000000;
/* Between two calls of a host, its other threads may run, in GHC for 20 ms each. */
static const uint64_t DEFAULT_PULL_SLOW_LIMIT = 500 * 1000000;

static const struct cst_poller_ops *const back_ends[] = {
#if defined(__linux__)
    &cst_epoll_ops,
#elif defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__) || defined(__APPLE__)
    &cst_kqueue_ops,
#endif
    &cst_poll_ops,
};

static const struct cst_poller_ops *back_end(const char *name) {
    if (name == NULL) return back_ends[0];
    for (size_t i = 0; i < sizeof back_ends / sizeof back_ends[0]; i++)
        if (strcmp(name, back_ends[i]->name) == 0) return back_ends[i];
    return NULL;
}

struct capstan_manager *cst_manager_make(const struct cst_poller_ops *ops, int *error) {
    void *memory;
    *error = posix_memalign(&memory, CST_CACHE_LINE, sizeof(struct capstan_manager));
    if (*error != 0) return NULL;
    struct capstan_manager *manager = memset(memory, 0, sizeof *manager);
    manager->ops = ops != NULL ? ops : back_ends[0];
    manager->slow_limit = DEFAULT_SLOW_LIMIT;
    cst_store_relaxed(&manager->ended_timers, CST_TABLE_NONE);
    cst_store_relaxed(&manager->ended_watches, CST_TABLE_NONE);
    cst_store_relaxed(&manager->closed, CST_TABLE_NONE);
    manager->wanting.fd = -1;
    manager->ready_next = manager->ready_end = manager->ready;
    cst_table_init(&manager->timers);
    cst_table_init(&manager->watches);
    cst_wheel_init(&manager->wheel, cst_clock_ns());
    manager->poller = manager->ops->open(error);
    if (manager->poller != NULL) {
        *error = cst_registry_add(manager);
        if (*error == 0) return manager;
        manager->ops->close(manager->poller);
    }
    free(manager);
    return NULL;
}

/* Frees descriptors and memory, except the manager itself. */
static void give_back(struct capstan_manager *manager) {
    manager->ops->close(manager->poller);
    manager->poller = NULL;
    cst_table_destroy(&manager->timers);
    cst_table_destroy(&manager->watches);
    free(manager->descriptors);
    free(manager->posts.item);
    free(manager->running.item);
    free(manager->wanting.id);
}

void cst_manager_destroy(struct capstan_manager *manager) {
    give_back(manager);
    free(manager);
}

/* Size of the options in version 0.1. */
enum { FIRST_SIZE = offsetof(struct capstan_manager_options, pull) + sizeof(int) };

int capstan_manager_new(capstan_manager **manager, const struct capstan_manager_options *options) {
    struct capstan_manager_options chosen = {0};
    if (options != NULL) {
        if (options->size > sizeof chosen) return EINVAL; /* for a newer library */
        /* Options without a size have the first version's size, so that the library does not ignore
         * them. */
        memcpy(&chosen, options, options->size != 0 ? options->size : FIRST_SIZE);
    }
    const struct cst_poller_ops *ops = back_end(chosen.back_end);
    if (ops == NULL) return EINVAL;
    int error;
    struct capstan_manager *made = cst_manager_make(ops, &error);
    if (made == NULL) return error;
    if (chosen.pull) made->slow_limit = DEFAULT_PULL_SLOW_LIMIT;
    if (chosen.slow_limit != 0) made->slow_limit = chosen.slow_limit;
    made->slow = chosen.slow;
    made->slow_data = chosen.slow_data;
    made->pull = chosen.pull != 0;
    *manager = made;
    return 0;
}

/* Delivers the end to every pending post, watch and timer. */
static void flush(struct capstan_manager *manager) {
    struct cst_post post;
    while (manager->posts.count > 0 || manager->running.next < manager->running.count) {
        cst_event_acquire(&manager->lock);
        cst_loop_take_posts(manager);
        cst_event_release(&manager->lock);
        while (cst_post_take(manager, &post))
            if (post.function != NULL) post.function(manager, post.data);
    }
    cst_watch_close_all(manager);
    struct cst_delivery delivery;
    while (cst_watch_take_closed(manager, &delivery))
        if (delivery.function != NULL)
            delivery.function(manager, delivery.id, delivery.fd, delivery.events, delivery.data);
    struct cst_expiry expiry;
    while (cst_timer_take_any(manager, &expiry))
        if (expiry.function != NULL)
            expiry.function(manager, expiry.id, expiry.expirations, expiry.data);
}

int capstan_manager_free(capstan_manager *manager) {
    if (manager == NULL) return 0;
    if (manager->is_default || cst_loop_enter(manager) != 0) return EBUSY;
    if (manager->poller != NULL) { /* else cst_manager_end was called */
        capstan_shutdown(manager);
        flush(manager);
        cst_registry_remove(manager);
        give_back(manager);
    }
    free(manager);
    return 0;
}

int cst_manager_end(struct capstan_manager *manager) {
    if (cst_loop_enter(manager) != 0) return EBUSY;
    if (manager->poller != NULL) {
        capstan_shutdown(manager);
        flush(manager);
        cst_registry_remove(manager);
        cst_event_acquire(&manager->fd_lock);
        cst_event_acquire(&manager->lock);
        give_back(manager);
        cst_store_relaxed(&manager->ended_timers, CST_TABLE_NONE);
        cst_store_relaxed(&manager->ended_watches, CST_TABLE_NONE);
        cst_store_relaxed(&manager->closed, CST_TABLE_NONE);
        manager->descriptors = NULL;
        manager->descriptor_count = 0;
        manager->posts = manager->running = (struct cst_post_list){0};
        manager->wanting = (struct cst_wanting){.fd = -1};
        cst_event_release(&manager->lock);
        cst_event_release(&manager->fd_lock);
    }
    cst_loop_leave(manager);
    return 0;
}

const char *capstan_manager_back_end(const capstan_manager *manager) {
    return manager->ops->name;
}

uint64_t capstan_clock(void) {
    return cst_clock_ns();
}

void capstan_manager_statistics(capstan_manager *manager,
                                struct capstan_manager_statistics *statistics, size_t size) {
    struct cst_statistics *from = &manager->statistics;
    /* Relaxed: a snapshot of counters, ordered with nothing. */
    struct capstan_manager_statistics now = {
        .turns = cst_load_relaxed(&from->turns),
        .fd_calls = cst_load_relaxed(&from->fd_calls),
        .timer_calls = cst_load_relaxed(&from->timer_calls),
        .post_calls = cst_load_relaxed(&from->post_calls),
        .wake_ups = cst_load_relaxed(&from->wake_ups),
        .stale = cst_load_relaxed(&from->stale),
        .rebuilds = cst_load_relaxed(&from->rebuilds),
        .slow_calls = cst_load_relaxed(&from->slow_calls),
        .slowest_ns = cst_load_relaxed(&from->slowest_ns),
    };
    cst_event_acquire(&manager->fd_lock);
    now.watches = manager->watches.live;
    cst_event_release(&manager->fd_lock);
    cst_event_acquire(&manager->lock);
    now.timers = manager->timers.live;
    cst_event_release(&manager->lock);
    if (size > sizeof now) {
        memset((char *)statistics + sizeof now, 0, size - sizeof now);
        size = sizeof now;
    }
    memcpy(statistics, &now, size);
}
