/* Helpers for the tests of the event manager: pipes, managers of each back end, turns of the
 * loop. */
#ifndef EVENT_TESTING_H
#define EVENT_TESTING_H

#include "testing.h"

#include "capstan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static const uint64_t MS = 1000000;

__attribute__((unused)) static void make_pipe(int ends[2]) {
    CHECK(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
}

__attribute__((unused)) static void close_pipe(int ends[2]) {
    close(ends[0]);
    close(ends[1]);
}

__attribute__((unused)) static void put(int fd, const char *text) {
    CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
}

/* Reads until nothing is left; returns the number of bytes. */
__attribute__((unused)) static size_t drain(int fd) {
    char sink[4096];
    size_t total = 0;
    for (ssize_t got; (got = read(fd, sink, sizeof sink)) > 0;) total += (size_t)got;
    return total;
}

#ifndef TEST_OWN_MANAGER
__attribute__((unused)) static capstan_manager *new_manager(const char *back_end) {
    struct capstan_manager_options options = {.size = sizeof options, .back_end = back_end};
    capstan_manager *manager;
    CHECK_EQ(capstan_manager_new(&manager, &options), 0);
    return manager;
}
#endif

/* Runs turns until a turn finds nothing to do; returns the number of calls. */
__attribute__((unused)) static unsigned run_all(capstan_manager *manager) {
    unsigned total = 0, calls;
    do {
        CHECK_EQ(capstan_step(manager, 0, &calls), 0);
        total += calls;
    } while (calls > 0);
    return total;
}

/* Runs one turn that does not wait. */
__attribute__((unused)) static unsigned step(capstan_manager *manager) {
    unsigned calls;
    CHECK_EQ(capstan_step(manager, 0, &calls), 0);
    return calls;
}

/* Runs turns until the counter has reached the value; the test's alarm is the limit. */
#define RUN_UNTIL(manager, counter, value)                                                         \
    do {                                                                                           \
        while ((counter) < (value)) CHECK_EQ(capstan_step((manager), CAPSTAN_FOREVER, NULL), 0);   \
    } while (0)

__attribute__((unused)) static struct capstan_manager_statistics
statistics(capstan_manager *manager) {
    struct capstan_manager_statistics now;
    capstan_manager_statistics(manager, &now, sizeof now);
    return now;
}

/* The calls that `note`, a function for descriptors, has received. */
struct seen {
    int calls;
    unsigned events;
    int fd;
    capstan_watch watch;
};

__attribute__((unused)) static void note(capstan_manager *manager, capstan_watch watch, int fd,
                                         unsigned events, void *data) {
    (void)manager;
    struct seen *seen = data;
    seen->calls++;
    seen->events = events;
    seen->fd = fd;
    seen->watch = watch;
}

__attribute__((unused)) static void note_timer(capstan_manager *manager, capstan_timer timer,
                                               uint64_t expirations, void *data) {
    (void)manager, (void)timer;
    *(uint64_t *)data += expirations;
}

__attribute__((unused)) static void count_post(capstan_manager *manager, void *data) {
    (void)manager;
    ++*(int *)data;
}

#endif
