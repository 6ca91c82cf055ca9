/* libuv.c: libuv, with poll handles, its lightest way to watch a descriptor. */
#include "contender.h"

#include <stdlib.h>
#include <uv.h>

struct place {
    uv_poll_t poll;
    uv_timer_t timeout;
    struct pipes *pipes;
    int index;
};

struct loop {
    uv_loop_t uv;
    struct pipes *pipes;
    struct place *place;
    uv_timer_t *background;
};

static void on_timeout(uv_timer_t *timer) {
    (void)timer;
    need(false, "a message within its timeout");
}

static void on_readable(uv_poll_t *poll, int status, int events) {
    struct place *place = (struct place *)poll;
    (void)status, (void)events;
    pass_on(place->pipes, place->index);
    if (place->pipes->left <= 0) uv_stop(poll->loop);
}

static void on_readable_in_time(uv_poll_t *poll, int status, int events) {
    struct place *place = (struct place *)poll;
    (void)status, (void)events;
    uv_timer_stop(&place->timeout);
    pass_on(place->pipes, place->index);
    uv_timer_start(&place->timeout, on_timeout, TIMEOUT_NS / 1000000, 0);
    if (place->pipes->left <= 0) uv_stop(poll->loop);
}

static void *open_loop(struct pipes *pipes) {
    struct loop *loop = calloc(1, sizeof *loop);
    need(loop != NULL, "memory");
    loop->pipes = pipes;
    loop->place = calloc((size_t)pipes->count, sizeof *loop->place);
    need(uv_loop_init(&loop->uv) == 0, "uv_loop_init");
    if (pipes->timeouts) {
        loop->background = calloc(BACKGROUND_TIMERS, sizeof *loop->background);
        for (int i = 0; i < BACKGROUND_TIMERS; i++) {
            uv_timer_init(&loop->uv, &loop->background[i]);
            uv_timer_start(&loop->background[i], on_timeout,
                           (TIMEOUT_NS + background_delay(i)) / 1000000, 0);
        }
    }
    for (int i = 0; i < pipes->count; i++) {
        struct place *place = &loop->place[i];
        place->pipes = pipes;
        place->index = i;
        need(uv_poll_init(&loop->uv, &place->poll, pipes->end[i][0]) == 0, "uv_poll_init");
        uv_poll_start(&place->poll, UV_READABLE,
                      pipes->timeouts ? on_readable_in_time : on_readable);
        if (!pipes->timeouts) continue;
        uv_timer_init(&loop->uv, &place->timeout);
        uv_timer_start(&place->timeout, on_timeout, TIMEOUT_NS / 1000000, 0);
    }
    return loop;
}

static void run(void *memory) {
    struct loop *loop = memory;
    while (loop->pipes->left > 0) uv_run(&loop->uv, UV_RUN_DEFAULT);
}

static void close_handle(uv_handle_t *handle, void *data) {
    (void)data;
    uv_close(handle, NULL);
}

static void shut(void *memory) {
    struct loop *loop = memory;
    uv_walk(&loop->uv, close_handle, NULL);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    need(uv_loop_close(&loop->uv) == 0, "uv_loop_close");
    free(loop->place);
    free(loop->background);
    free(loop);
}

const struct contender libuv_poll = {"libuv", true, open_loop, run, shut};
