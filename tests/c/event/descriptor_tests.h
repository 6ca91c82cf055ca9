/* Registrations: which events are reported, how often, and to which registration. The tests run on
 * each back end. */
#ifndef DESCRIPTOR_TESTS_H
#define DESCRIPTOR_TESTS_H

#include "event_testing.h"

#include <limits.h>
#include <sys/resource.h>

#include <sys/socket.h>

static bool has_edge(const char *back_end) {
    return strcmp(back_end, "poll") != 0;
}

static void level_and_persistent(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    int ends[2];
    make_pipe(ends);
    struct seen seen = {0};
    capstan_watch watch;
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &seen, &watch), 0);
    CHECK_EQ(step(manager), 0);
    put(ends[1], "x");
    CHECK_EQ(step(manager), 1);
    CHECK_EQ(seen.events, CAPSTAN_READ);
    CHECK_EQ(seen.fd, ends[0]);
    CHECK(seen.watch == watch);
    CHECK_EQ(step(manager), 1); /* it is reported while it is readable */
    CHECK_EQ(drain(ends[0]), 1);
    CHECK_EQ(step(manager), 0);
    CHECK_EQ(capstan_fd_unregister(manager, watch), 0);
    CHECK_EQ(capstan_fd_unregister(manager, watch), ENOENT);
    put(ends[1], "x");
    CHECK_EQ(step(manager), 0);
    CHECK_EQ(seen.calls, 2);
    CHECK_EQ(statistics(manager).watches, 0);
    close_pipe(ends);
    capstan_manager_free(manager);
}

static void one_shot(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    int ends[2];
    make_pipe(ends);
    struct seen seen = {0};
    put(ends[1], "x");
    for (int i = 1; i <= 3; i++) {
        capstan_watch watch;
        CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ | CAPSTAN_ONESHOT, note, &seen,
                                     &watch),
                 0);
        CHECK_EQ(run_all(manager), 1); /* although it stays readable */
        CHECK_EQ(seen.calls, i);
        CHECK_EQ(capstan_fd_unregister(manager, watch), ENOENT);
    }
    CHECK_EQ(statistics(manager).watches, 0);
    close_pipe(ends);
    capstan_manager_free(manager);
}

static void edge(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    int ends[2];
    make_pipe(ends);
    struct seen seen = {0};
    unsigned events = CAPSTAN_READ | CAPSTAN_EDGE;
    int error = capstan_fd_register(manager, ends[0], events, note, &seen, NULL);
    CHECK_EQ(error, has_edge(back_end) ? 0 : ENOTSUP);
    if (error == 0) {
        put(ends[1], "x");
        CHECK_EQ(run_all(manager), 1); /* once, although it stays readable */
        CHECK_EQ(run_all(manager), 0);
        put(ends[1], "y");
        CHECK_EQ(run_all(manager), 1); /* another byte has arrived */
        CHECK_EQ(capstan_fd_change(manager, seen.watch, CAPSTAN_READ), 0);
        CHECK_EQ(run_all(manager), 1); /* a change makes the manager look again */
    }
    close_pipe(ends);
    capstan_manager_free(manager);
}

static void write_and_change(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    struct seen seen = {0};
    capstan_watch watch;
    CHECK_EQ(capstan_fd_register(manager, pair[0], CAPSTAN_READ, note, &seen, &watch), 0);
    CHECK_EQ(step(manager), 0);
    CHECK_EQ(capstan_fd_change(manager, watch, CAPSTAN_READ | CAPSTAN_WRITE), 0);
    CHECK_EQ(step(manager), 1);
    CHECK_EQ(seen.events, CAPSTAN_WRITE);
    put(pair[1], "x");
    CHECK_EQ(step(manager), 1);
    CHECK_EQ(seen.events, CAPSTAN_READ | CAPSTAN_WRITE);
    CHECK_EQ(capstan_fd_change(manager, watch, 0), 0);
    CHECK_EQ(step(manager), 0);
    CHECK_EQ(capstan_fd_change(manager, watch, CAPSTAN_READ), 0);
    CHECK_EQ(step(manager), 1);
    CHECK_EQ(seen.events, CAPSTAN_READ);
    CHECK_EQ(capstan_fd_change(manager, watch, CAPSTAN_EDGE), EINVAL);
    CHECK_EQ(capstan_fd_unregister(manager, watch), 0);
    CHECK_EQ(capstan_fd_change(manager, watch, CAPSTAN_READ), ENOENT);
    close_pipe(pair);
    capstan_manager_free(manager);
}

static void hang_up(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    int pair[2], ends[2];
    struct seen half = {0}, whole = {0}, broken = {0};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    CHECK_EQ(capstan_fd_register(manager, pair[0], CAPSTAN_HANGUP, note, &half, NULL), 0);
    put(pair[1], "data is no hang-up");
    CHECK_EQ(step(manager), 0);
    CHECK(shutdown(pair[1], SHUT_WR) == 0);
    CHECK_EQ(step(manager), 1);
    CHECK_EQ(half.events, CAPSTAN_HANGUP);
    /* The writer of a pipe is gone: end of file, which reads without blocking. */
    make_pipe(ends);
    CHECK_EQ(
        capstan_fd_register(manager, ends[0], CAPSTAN_READ | CAPSTAN_ONESHOT, note, &whole, NULL),
        0);
    close(ends[1]);
    CHECK_EQ(capstan_fd_unregister(manager, half.watch), 0);
    CHECK_EQ(run_all(manager), 1);
    CHECK_EQ(whole.events, CAPSTAN_READ | CAPSTAN_HANGUP);
    close(ends[0]);
    /* The reader is gone: writing fails without blocking. */
    make_pipe(ends);
    close(ends[0]);
    CHECK_EQ(
        capstan_fd_register(manager, ends[1], CAPSTAN_WRITE | CAPSTAN_ONESHOT, note, &broken, NULL),
        0);
    CHECK_EQ(run_all(manager), 1);
    CHECK_EQ(broken.events, CAPSTAN_WRITE | CAPSTAN_ERROR);
    close(ends[1]);
    close_pipe(pair);
    capstan_manager_free(manager);
}

/* Several registrations of one descriptor: each gets the events that it wants and no others. */
static void shared_descriptor(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    struct seen reader = {0}, once = {0}, writer = {0};
    capstan_watch reads, writes, last;
    unsigned oneshot = CAPSTAN_ONESHOT;
    CHECK_EQ(capstan_fd_register(manager, pair[0], CAPSTAN_READ, note, &reader, &reads), 0);
    CHECK_EQ(capstan_fd_register(manager, pair[0], CAPSTAN_READ | oneshot, note, &once, NULL), 0);
    CHECK_EQ(capstan_fd_register(manager, pair[0], CAPSTAN_WRITE | oneshot, note, &writer, &writes),
             0);
    CHECK_EQ(run_all(manager), 1); /* the writer, once */
    CHECK_EQ(writer.events, CAPSTAN_WRITE);
    CHECK_EQ(capstan_fd_unregister(manager, writes), ENOENT);
    put(pair[1], "x");
    CHECK_EQ(step(manager), 2);
    CHECK_EQ(step(manager), 1); /* the persistent one again */
    CHECK_EQ(reader.calls, 2);
    CHECK_EQ(once.calls, 1);
    CHECK_EQ(drain(pair[0]), 1);
    CHECK_EQ(step(manager), 0);
    /* Two one-shot registrations become ready at different times. */
    CHECK_EQ(capstan_fd_unregister(manager, reads), 0);
    CHECK_EQ(capstan_fd_register(manager, pair[0], CAPSTAN_READ | oneshot, note, &once, NULL), 0);
    CHECK_EQ(capstan_fd_register(manager, pair[0], CAPSTAN_WRITE | oneshot, note, &writer, &last),
             0);
    CHECK_EQ(run_all(manager), 1);
    CHECK_EQ(writer.calls, 2);
    put(pair[1], "y");
    CHECK_EQ(run_all(manager), 1);
    CHECK_EQ(once.calls, 2);
    if (has_edge(back_end)) {
        struct seen edge = {0};
        CHECK_EQ(capstan_fd_register(manager, pair[0], CAPSTAN_READ, note, &reader, NULL), 0);
        CHECK_EQ(
            capstan_fd_register(manager, pair[0], CAPSTAN_READ | CAPSTAN_EDGE, note, &edge, NULL),
            EINVAL);
    }
    close_pipe(pair);
    capstan_manager_free(manager);
}

/* A peer that closes one direction is reported to registrations that want CAPSTAN_HANGUP. The
 * writer may still write, and is not called for it. When the peer closes both directions, all
 * registrations are told, except one that wants nothing. */
static void half_closed(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    int pair[2];
    char full[4096] = {0};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    while (write(pair[0], full, sizeof full) > 0) continue;
    struct seen writer = {0}, ends = {0}, quiet = {0};
    capstan_watch watch;
    CHECK_EQ(capstan_fd_register(manager, pair[0], CAPSTAN_WRITE, note, &writer, NULL), 0);
    CHECK_EQ(capstan_fd_register(manager, pair[0], CAPSTAN_HANGUP, note, &ends, NULL), 0);
    CHECK_EQ(capstan_fd_register(manager, pair[0], CAPSTAN_READ, note, &quiet, &watch), 0);
    CHECK_EQ(capstan_fd_change(manager, watch, 0), 0);
    CHECK(shutdown(pair[1], SHUT_WR) == 0);
    CHECK_EQ(step(manager), 1);
    CHECK_EQ(ends.events, CAPSTAN_HANGUP);
    CHECK_EQ(writer.calls, 0);
    close(pair[1]);
    CHECK_EQ(step(manager), 2);
    CHECK(writer.events & CAPSTAN_HANGUP);
    CHECK_EQ(quiet.calls, 0);
    close(pair[0]);
    capstan_manager_free(manager);
}

/* A registration that wants nothing is never called, and the end of its file does not keep the loop
 * awake. */
static void quiet_at_the_end(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    struct seen seen = {0};
    capstan_watch watch;
    int ends[2];
    make_pipe(ends);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &seen, &watch), 0);
    CHECK_EQ(capstan_fd_change(manager, watch, 0), 0);
    put(ends[1], "x");
    close(ends[1]);
    uint64_t turns = statistics(manager).turns, fired = 0;
    CHECK_EQ(capstan_timer_start(manager, 20 * MS, 0, note_timer, &fired, NULL), 0);
    RUN_UNTIL(manager, fired, 1);
    CHECK(statistics(manager).turns - turns <= 3);
    CHECK_EQ(seen.calls, 0);
    CHECK_EQ(capstan_fd_change(manager, watch, CAPSTAN_READ), 0);
    CHECK_EQ(step(manager), 1);
    CHECK(seen.events & CAPSTAN_READ);
    CHECK_EQ(drain(ends[0]), 1);
    close(ends[0]);
    capstan_manager_free(manager);
}

/* A large number of registrations of one descriptor end in random order. */
static void crowd(const char *back_end) {
    enum { CROWD = 100 };
    capstan_manager *manager = new_manager(back_end);
    int ends[2];
    make_pipe(ends);
    static struct seen seen[CROWD];
    capstan_watch watch[CROWD];
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < CROWD; i++)
        CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &seen[i], &watch[i]), 0);
    put(ends[1], "x");
    for (int i = 0; i < CROWD; i++) {
        CHECK_EQ(step(manager), CROWD - i);
        CHECK_EQ(capstan_fd_unregister(manager, watch[i * 37 % CROWD]), 0);
    }
    CHECK_EQ(step(manager), 0);
    for (int i = 0; i < CROWD; i++) CHECK_EQ(seen[i * 37 % CROWD].calls, i + 1);
    close_pipe(ends);
    capstan_manager_free(manager);
}

/* Functions that end their own registration or another, or begin a new one. */
struct chain {
    capstan_watch own, other;
    int calls, ended;
    struct chain *next;
    int fd;
};

static void end_self_and_other(capstan_manager *manager, capstan_watch watch, int fd,
                               unsigned events, void *data) {
    struct chain *chain = data;
    (void)fd, (void)events;
    chain->calls++;
    CHECK(watch == chain->own);
    chain->ended += capstan_fd_unregister(manager, chain->own) == 0;
    chain->ended += capstan_fd_unregister(manager, chain->other) == 0;
}

static void ends_in_functions(const char *back_end, unsigned modes) {
    capstan_manager *manager = new_manager(back_end);
    int first[2], second[2];
    make_pipe(first);
    make_pipe(second);
    struct chain a = {0}, b = {0};
    unsigned events = CAPSTAN_READ | modes;
    CHECK_EQ(capstan_fd_register(manager, first[0], events, end_self_and_other, &a, &a.own), 0);
    CHECK_EQ(capstan_fd_register(manager, second[0], events, end_self_and_other, &b, &b.own), 0);
    a.other = b.own;
    b.other = a.own;
    put(first[1], "x");
    put(second[1], "x");
    /* Both are ready in the same turn; the first function ends the other registration. */
    CHECK_EQ(run_all(manager), 1);
    CHECK_EQ(a.calls + b.calls, 1);
    CHECK_EQ(a.ended + b.ended, modes & CAPSTAN_ONESHOT ? 1 : 2);
    CHECK_EQ(statistics(manager).watches, 0);
    close_pipe(first);
    close_pipe(second);
    capstan_manager_free(manager);
}

static void ends_on_shared_descriptor(const char *back_end, unsigned modes) {
    capstan_manager *manager = new_manager(back_end);
    int ends[2];
    make_pipe(ends);
    struct chain a = {0}, b = {0};
    unsigned events = CAPSTAN_READ | modes;
    CHECK_EQ(capstan_fd_register(manager, ends[0], events, end_self_and_other, &a, &a.own), 0);
    CHECK_EQ(capstan_fd_register(manager, ends[0], events, end_self_and_other, &b, &b.own), 0);
    a.other = b.own;
    b.other = a.own;
    put(ends[1], "x");
    CHECK_EQ(run_all(manager), 1);
    CHECK_EQ(a.calls + b.calls, 1);
    CHECK_EQ(statistics(manager).watches, 0);
    close_pipe(ends);
    capstan_manager_free(manager);
}

/* The function registers itself again, like a program that waits once for each message. */
static void again(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                  void *data) {
    (void)watch, (void)events;
    char byte;
    CHECK_EQ(read(fd, &byte, 1), 1);
    if (--*(int *)data > 0)
        CHECK_EQ(
            capstan_fd_register(manager, fd, CAPSTAN_READ | CAPSTAN_ONESHOT, again, data, NULL), 0);
}

static void registers_again(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    int ends[2], left = 10;
    make_pipe(ends);
    CHECK_EQ(
        capstan_fd_register(manager, ends[0], CAPSTAN_READ | CAPSTAN_ONESHOT, again, &left, NULL),
        0);
    put(ends[1], "0123456789");
    CHECK_EQ(run_all(manager), 10);
    CHECK_EQ(left, 0);
    close_pipe(ends);
    capstan_manager_free(manager);
}

static void regular_file(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    FILE *file = tmpfile();
    CHECK(file != NULL);
    struct seen seen = {0};
    capstan_watch watch;
    int fd = fileno(file);
    CHECK_EQ(capstan_fd_register(manager, fd, CAPSTAN_READ | CAPSTAN_ONESHOT, note, &seen, NULL),
             0);
    CHECK_EQ(run_all(manager), 1);
    CHECK_EQ(seen.events, CAPSTAN_READ);
    CHECK_EQ(capstan_fd_register(manager, fd, CAPSTAN_WRITE, note, &seen, &watch), 0);
    CHECK_EQ(step(manager), 1);
    CHECK_EQ(step(manager), 1);
    CHECK_EQ(seen.events, CAPSTAN_WRITE);
    CHECK_EQ(capstan_fd_unregister(manager, watch), 0);
    CHECK_EQ(step(manager), 0);
    fclose(file);
    capstan_manager_free(manager);
}

/* A change by the thread that drives the loop does not cut its own next wait short. */
static void changes_before_a_wait(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    struct seen seen = {0};
    uint64_t fired = 0;
    capstan_watch watch, other;
    int ends[2];
    unsigned calls;
    make_pipe(ends);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &seen, &watch), 0);
        CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_HANGUP, note, &seen, &other), 0);
        CHECK_EQ(capstan_fd_change(manager, watch, 0), 0);
        CHECK_EQ(capstan_fd_unregister(manager, other), 0);
        CHECK_EQ(capstan_timer_start(manager, 2 * MS, 0, note_timer, &fired, NULL), 0);
        CHECK_EQ(capstan_step(manager, CAPSTAN_FOREVER, &calls), 0);
        CHECK_EQ(calls, 1);
        CHECK_EQ(capstan_fd_unregister(manager, watch), 0);
    }
    CHECK_EQ(seen.calls, 0);
    close_pipe(ends);
    capstan_manager_free(manager);
}

static void wrong_arguments(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    int ends[2];
    make_pipe(ends);
    struct seen seen = {0};
    CHECK_EQ(capstan_fd_register(manager, -1, CAPSTAN_READ, note, &seen, NULL), EBADF);
    CHECK_EQ(capstan_fd_register(manager, 19999, CAPSTAN_READ, note, &seen, NULL), EBADF);
    /* A table that reaches this number would need 32 GiB. */
    CHECK_EQ(capstan_fd_register(manager, INT_MAX, CAPSTAN_READ, note, &seen, NULL), EBADF);
    CHECK_EQ(capstan_fd_register(manager, ends[0], 0, note, &seen, NULL), EINVAL);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_ONESHOT, note, &seen, NULL), EINVAL);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ | 2, note, &seen, NULL), EINVAL);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, NULL, &seen, NULL), EINVAL);
    CHECK_EQ(capstan_fd_unregister(manager, 0), ENOENT);
    CHECK_EQ(capstan_fd_unregister(manager, UINT64_MAX), ENOENT);
    CHECK_EQ(statistics(manager).watches, 0);
    close_pipe(ends);
    capstan_manager_free(manager);
    struct capstan_manager_options options = {.size = sizeof options, .back_end = "none"};
    CHECK_EQ(capstan_manager_new(&manager, &options), EINVAL);
    options.size = 0; /* a size of 0 stands for the first version of the structure */
    CHECK_EQ(capstan_manager_new(&manager, &options), EINVAL);
    options = (struct capstan_manager_options){.size = sizeof options + 1};
    CHECK_EQ(capstan_manager_new(&manager, &options), EINVAL);
    options = (struct capstan_manager_options){.back_end = "poll"};
    CHECK_EQ(capstan_manager_new(&manager, &options), 0);
    CHECK(strcmp(capstan_manager_back_end(manager), "poll") == 0);
    capstan_manager_free(manager);
}

/* More descriptors of a pipe or a file are ready than one turn takes, and one descriptor of the
 * other kind. All are served, again and again. */
static void more_than_a_batch(const char *back_end, int original, int other) {
    enum { MANY = 2500 };
    capstan_manager *manager = new_manager(back_end);
    static int copy[MANY];
    static struct seen seen[MANY];
    memset(seen, 0, sizeof seen);
    int count = 0;
    while (count < MANY && (copy[count] = dup(original)) >= 0) count++; /* or up to the limit */
    for (int i = 0; i < count; i++)
        CHECK_EQ(capstan_fd_register(manager, copy[i], CAPSTAN_READ, note, &seen[i], NULL), 0);
    struct seen odd = {0};
    CHECK_EQ(capstan_fd_register(manager, other, CAPSTAN_READ, note, &odd, NULL), 0);
    for (int i = 0; i < 12; i++) step(manager);
    for (int i = 0; i < count; i++) CHECK(seen[i].calls >= 1);
    odd.calls = 0;
    for (int i = 0; i < 12; i++) step(manager);
    CHECK(odd.calls >= 1);
    capstan_manager_free(manager);
    for (int i = 0; i < count; i++) {
        CHECK_EQ(seen[i].events, CAPSTAN_CLOSED);
        close(copy[i]);
    }
}

static void crowds_of_ready(const char *back_end) {
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    int ends[2];
    FILE *file = tmpfile();
    CHECK(file != NULL);
    make_pipe(ends);
    put(ends[1], "x");
    more_than_a_batch(back_end, ends[0], fileno(file));
    more_than_a_batch(back_end, fileno(file), ends[0]);
    close_pipe(ends);
    fclose(file);
}

static void test_descriptors(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    CHECK(strcmp(capstan_manager_back_end(manager), back_end) == 0);
    capstan_manager_free(manager);
    level_and_persistent(back_end);
    one_shot(back_end);
    edge(back_end);
    write_and_change(back_end);
    hang_up(back_end);
    shared_descriptor(back_end);
    half_closed(back_end);
    quiet_at_the_end(back_end);
    crowd(back_end);
    ends_in_functions(back_end, 0);
    ends_in_functions(back_end, CAPSTAN_ONESHOT);
    ends_on_shared_descriptor(back_end, 0);
    ends_on_shared_descriptor(back_end, CAPSTAN_ONESHOT);
    registers_again(back_end);
    regular_file(back_end);
    changes_before_a_wait(back_end);
    wrong_arguments(back_end);
    crowds_of_ready(back_end);
}

#endif
