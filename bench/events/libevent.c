/* libevent.c: libevent on epoll, level- and edge-triggered. */
#include "contender.h"

#include <event2/event.h>
#include <stdlib.h>

struct place {
    struct event *readable, *timeout;
    struct loop *loop;
    int index;
};

struct loop {
    struct event_base *base;
    struct pipes *pipes;
    struct place *place;
    struct event **background;
};

static const struct timeval timeout = {TIMEOUT_NS / 1000000000, 0};

static void on_timeout(evutil_socket_t fd, short events, void *data) {
    (void)fd, (void)events, (void)data;
    need(false, "a message within its timeout");
}

static void on_readable(evutil_socket_t fd, short events, void *data) {
    struct place *place = data;
    (void)fd, (void)events;
    pass_on(place->loop->pipes, place->index);
    if (place->loop->pipes->left <= 0) event_base_loopbreak(place->loop->base);
}

static void on_readable_in_time(evutil_socket_t fd, short events, void *data) {
    struct place *place = data;
    (void)fd, (void)events;
    event_del(place->timeout);
    pass_on(place->loop->pipes, place->index);
    event_add(place->timeout, &timeout);
    if (place->loop->pipes->left <= 0) event_base_loopbreak(place->loop->base);
}

static void add_background(struct loop *loop) {
    loop->background = calloc(BACKGROUND_TIMERS, sizeof(struct event *));
    for (int i = 0; i < BACKGROUND_TIMERS; i++) {
        uint64_t us = (TIMEOUT_NS + background_delay(i)) / 1000;
        struct timeval delay = {(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};
        loop->background[i] = event_new(loop->base, -1, 0, on_timeout, NULL);
        event_add(loop->background[i], &delay);
    }
}

static void *open_with(struct pipes *pipes, short flags) {
    struct loop *loop = calloc(1, sizeof *loop);
    need(loop != NULL, "memory");
    struct event_config *config = event_config_new();
    need(event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK) == 0, "event_config_set_flag");
    loop->base = event_base_new_with_config(config);
    event_config_free(config);
    need(loop->base != NULL, "event_base_new");
    loop->pipes = pipes;
    loop->place = calloc((size_t)pipes->count, sizeof *loop->place);
    if (pipes->timeouts) add_background(loop);
    for (int i = 0; i < pipes->count; i++) {
        struct place *place = &loop->place[i];
        *place = (struct place){.loop = loop, .index = i};
        place->readable =
            event_new(loop->base, pipes->end[i][0], (short)(EV_READ | EV_PERSIST | flags),
                      pipes->timeouts ? on_readable_in_time : on_readable, place);
        need(event_add(place->readable, NULL) == 0, "event_add");
        if (!pipes->timeouts) continue;
        place->timeout = event_new(loop->base, -1, 0, on_timeout, place);
        event_add(place->timeout, &timeout);
    }
    return loop;
}

static void *open_level(struct pipes *pipes) {
    return open_with(pipes, 0);
}
static void *open_edge(struct pipes *pipes) {
    return open_with(pipes, EV_ET);
}

static void run(void *memory) {
    struct loop *loop = memory;
    while (loop->pipes->left > 0) event_base_loop(loop->base, 0);
}

static void shut(void *memory) {
    struct loop *loop = memory;
    for (int i = 0; i < loop->pipes->count; i++) {
        event_free(loop->place[i].readable);
        if (loop->place[i].timeout != NULL) event_free(loop->place[i].timeout);
    }
    for (int i = 0; loop->background != NULL && i < BACKGROUND_TIMERS; i++)
        event_free(loop->background[i]);
    event_base_free(loop->base);
    free(loop->place);
    free(loop->background);
    free(loop);
}

const struct contender libevent_level = {"libevent", true, open_level, run, shut};
const struct contender libevent_edge = {"libevent-edge", true, open_edge, run, shut};
