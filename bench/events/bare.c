/* bare.c: the floor. An epoll loop written for this one program, without a table and without
 * callbacks. It also runs in a process with a second thread, which only sleeps. There each system
 * call of the C library is a cancellation point, and the kernel counts the users of a file. No loop
 * in a program of GHC's threaded runtime can be faster than that. */
#include "contender.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>

enum { BATCH = 256 };

struct bare {
    struct pipes *pipes;
    int epoll;
    struct epoll_event event[BATCH];
};

static void *open_with(struct pipes *pipes, uint32_t flags) {
    struct bare *bare = malloc(sizeof *bare);
    need(bare != NULL, "memory");
    bare->pipes = pipes;
    bare->epoll = epoll_create1(EPOLL_CLOEXEC);
    need(bare->epoll >= 0, "epoll_create1");
    for (int i = 0; i < pipes->count; i++) {
        struct epoll_event event = {.events = EPOLLIN | flags, .data.u32 = (uint32_t)i};
        need(epoll_ctl(bare->epoll, EPOLL_CTL_ADD, pipes->end[i][0], &event) == 0, "epoll_ctl");
    }
    return bare;
}

static void *open_level(struct pipes *pipes) {
    return open_with(pipes, 0);
}
static void *open_edge(struct pipes *pipes) {
    return open_with(pipes, EPOLLET);
}

static void *sleep_for_ever(void *nothing) {
    for (;;) pause();
    return nothing;
}

static void *open_beside_thread(struct pipes *pipes) {
    pthread_t thread;
    need(pthread_create(&thread, NULL, sleep_for_ever, NULL) == 0, "pthread_create");
    return open_with(pipes, 0);
}

static void run(void *loop) {
    struct bare *bare = loop;
    while (bare->pipes->left > 0) {
        int count = epoll_wait(bare->epoll, bare->event, BATCH, -1);
        for (int i = 0; i < count; i++) pass_on(bare->pipes, (int)bare->event[i].data.u32);
    }
}

static void shut(void *loop) {
    struct bare *bare = loop;
    close(bare->epoll);
    free(bare);
}

const struct contender bare_level = {"bare", false, open_level, run, shut};
const struct contender bare_threads = {"bare-threads", false, open_beside_thread, run, shut};
const struct contender bare_edge = {"bare-edge", false, open_edge, run, shut};
