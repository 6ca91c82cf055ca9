/* capstan.c: Capstan's event manager. */
#include "contender.h"

#include <capstan.h>
#include <stdlib.h>

struct ours {
    struct pipes *pipes;
    capstan_manager *manager;
    struct place *place;
};

struct place {
    struct pipes *pipes;
    int index;
    capstan_timer timeout;
};

static void on_timeout(capstan_manager *manager, capstan_timer timer, uint64_t expirations,
                       void *data) {
    (void)manager, (void)timer, (void)data;
    need(expirations == 0, "a message within its timeout");
}

static void on_readable(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                        void *data) {
    (void)manager, (void)watch, (void)fd, (void)events;
    struct place *place = data;
    pass_on(place->pipes, place->index);
}

static void on_readable_in_time(capstan_manager *manager, capstan_watch watch, int fd,
                                unsigned events, void *data) {
    struct place *place = data;
    (void)watch, (void)fd, (void)events;
    need(capstan_timer_cancel(manager, place->timeout) == 0, "capstan_timer_cancel");
    pass_on(place->pipes, place->index);
    capstan_timer_start(manager, TIMEOUT_NS, 0, on_timeout, NULL, &place->timeout);
}

static void *open_with(struct pipes *pipes, unsigned flags) {
    struct ours *ours = malloc(sizeof *ours);
    struct place *place = malloc((size_t)pipes->count * sizeof *place);
    need(ours != NULL && place != NULL, "memory");
    *ours = (struct ours){.pipes = pipes, .place = place};
    need(capstan_manager_new(&ours->manager, NULL) == 0, "capstan_manager_new");
    capstan_fd_function *function = on_readable;
    if (pipes->timeouts) {
        function = on_readable_in_time;
        for (int i = 0; i < BACKGROUND_TIMERS; i++)
            capstan_timer_start(ours->manager, TIMEOUT_NS + background_delay(i), 0, on_timeout,
                                NULL, NULL);
    }
    for (int i = 0; i < pipes->count; i++) {
        place[i] = (struct place){pipes, i, 0};
        if (pipes->timeouts)
            capstan_timer_start(ours->manager, TIMEOUT_NS, 0, on_timeout, NULL, &place[i].timeout);
        need(capstan_fd_register(ours->manager, pipes->end[i][0], CAPSTAN_READ | flags, function,
                                 &place[i], NULL) == 0,
             "capstan_fd_register");
    }
    return ours;
}

static void *open_level(struct pipes *pipes) {
    return open_with(pipes, 0);
}
static void *open_edge(struct pipes *pipes) {
    return open_with(pipes, CAPSTAN_EDGE);
}

static void run(void *loop) {
    struct ours *ours = loop;
    while (ours->pipes->left > 0) capstan_step(ours->manager, CAPSTAN_FOREVER, NULL);
}

static void shut(void *loop) {
    struct ours *ours = loop;
    ours->pipes->left = 0;
    capstan_manager_free(ours->manager);
    free(ours->place);
    free(ours);
}

const struct contender capstan_level = {"c", true, open_level, run, shut};
const struct contender capstan_edge = {"c-edge", true, open_edge, run, shut};
