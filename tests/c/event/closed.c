/* Descriptors that are closed while they are registered, and descriptor numbers that are used
 * again. */
#include "event_testing.h"

/* Puts an open file at a given number. */
static void place_at(int from, int number) {
    CHECK(dup2(from, number) == number);
}

static void closed_and_reused(void) {
    capstan_manager *manager = new_manager("epoll");
    int old[2], fresh[2];
    struct seen first = {0}, second = {0};
    make_pipe(old);
    make_pipe(fresh);
    int number = old[0];
    CHECK_EQ(capstan_fd_register(manager, number, CAPSTAN_READ, note, &first, NULL), 0);
    close(number);
    put(fresh[1], "x");
    place_at(fresh[0], number);
    CHECK_EQ(run_all(manager), 0); /* the new file was not registered */
    CHECK_EQ(
        capstan_fd_register(manager, number, CAPSTAN_READ | CAPSTAN_ONESHOT, note, &second, NULL),
        0);
    CHECK_EQ(run_all(manager), 2);
    CHECK_EQ(first.events, CAPSTAN_CLOSED);
    CHECK_EQ(first.calls, 1);
    CHECK_EQ(second.events, CAPSTAN_READ);
    CHECK_EQ(statistics(manager).watches, 0);
    close(number);
    close(old[1]);
    close_pipe(fresh);
    capstan_manager_free(manager);
}

/* A descriptor `old` is closed while it is registered, and its number then names `fresh`. Both may
 * be pipes, or regular files, which the kernel's set does not hold. The function closes both. */
static void reused(int old, int fresh, unsigned mode) {
    capstan_manager *manager = new_manager("epoll");
    struct seen first = {0}, second = {0};
    capstan_watch watch;
    CHECK_EQ(capstan_fd_register(manager, old, CAPSTAN_READ, note, &first, &watch), 0);
    step(manager);
    place_at(fresh, old);
    first = (struct seen){0};
    step(manager);
    CHECK_EQ(first.calls, 0); /* the new file was not registered */
    if (mode == 0)
        CHECK_EQ(capstan_fd_change(manager, watch, CAPSTAN_READ | CAPSTAN_WRITE), ENOENT);
    else
        CHECK_EQ(capstan_fd_register(manager, old, CAPSTAN_READ | mode, note, &second, NULL), 0);
    step(manager);
    step(manager);
    CHECK_EQ(first.calls, 1);
    CHECK_EQ(first.events, CAPSTAN_CLOSED);
    CHECK_EQ(second.calls, mode == 0 ? 0 : 1);
    CHECK_EQ(capstan_fd_unregister(manager, watch), ENOENT);
    close(old);
    close(fresh);
    capstan_manager_free(manager);
}

static int new_file(void) {
    FILE *file = tmpfile();
    CHECK(file != NULL);
    int fd = dup(fileno(file));
    fclose(file);
    return fd;
}

static int new_readable(void) {
    int ends[2];
    make_pipe(ends);
    put(ends[1], "x");
    close(ends[1]);
    return ends[0];
}

static void regular_files(void) {
    static const unsigned modes[] = {0, CAPSTAN_ONESHOT};
    for (size_t i = 0; i < 2; i++) {
        reused(new_readable(), new_file(), modes[i]);
        reused(new_file(), new_readable(), modes[i]);
        reused(new_file(), new_file(), modes[i]);
    }
    /* The descriptor is closed and its number is not used again: nothing is reported, and the loop
     * sleeps. */
    capstan_manager *manager = new_manager("epoll");
    struct seen seen = {0};
    int file = new_file();
    CHECK_EQ(capstan_fd_register(manager, file, CAPSTAN_READ, note, &seen, NULL), 0);
    CHECK_EQ(step(manager), 1);
    close(file);
    CHECK_EQ(step(manager), 0);
    CHECK_EQ(step(manager), 0);
    CHECK_EQ(seen.events, CAPSTAN_READ);
    capstan_manager_free(manager);
}

/* Ending a registration whose number now names another registered file does not end that one. */
static void stale_name(void) {
    capstan_manager *manager = new_manager("epoll");
    int old[2], fresh[2];
    struct seen first = {0}, second = {0};
    capstan_watch stale;
    make_pipe(old);
    make_pipe(fresh);
    int number = old[0];
    CHECK_EQ(capstan_fd_register(manager, number, CAPSTAN_READ, note, &first, &stale), 0);
    CHECK_EQ(capstan_fd_unregister(manager, stale), 0);
    close(number);
    place_at(fresh[0], number);
    CHECK_EQ(capstan_fd_register(manager, number, CAPSTAN_READ, note, &second, NULL), 0);
    CHECK(second.watch != stale);
    CHECK_EQ(capstan_fd_unregister(manager, stale), ENOENT);
    CHECK_EQ(capstan_fd_change(manager, stale, CAPSTAN_WRITE), ENOENT);
    put(fresh[1], "x");
    CHECK_EQ(step(manager), 1);
    CHECK_EQ(second.calls, 1);
    close(number);
    close(old[1]);
    close_pipe(fresh);
    capstan_manager_free(manager);
}

/* epoll reports a closed file while a duplicate is open, and no call stops it. The manager makes a
 * new set. */
static void duplicate_keeps_reporting(bool reuse) {
    capstan_manager *manager = new_manager("epoll");
    int ends[2], other[2], good[2];
    struct seen seen = {0}, fine = {0}, late = {0};
    capstan_watch watch;
    make_pipe(ends);
    make_pipe(other);
    make_pipe(good);
    CHECK_EQ(capstan_fd_register(manager, good[0], CAPSTAN_READ, note, &fine, NULL), 0);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &seen, &watch), 0);
    int number = ends[0], duplicate = dup(number);
    close(number);
    if (reuse) {
        place_at(other[0], number);
        CHECK_EQ(capstan_fd_register(manager, number, CAPSTAN_READ, note, &late, NULL), 0);
        CHECK_EQ(run_all(manager), 1);
        CHECK_EQ(seen.events, CAPSTAN_CLOSED);
    } else {
        CHECK_EQ(capstan_fd_unregister(manager, watch), 0);
    }
    int calls = seen.calls;
    put(ends[1], "x");
    for (int i = 0; i < 5; i++) CHECK_EQ(step(manager), 0);
    CHECK_EQ(seen.calls, calls);
    CHECK(statistics(manager).rebuilds == 1);
    CHECK(statistics(manager).stale == 1); /* once: the manager can sleep again */
    CHECK_EQ(capstan_step(manager, 20 * MS, NULL), 0);
    CHECK(statistics(manager).stale == 1);
    put(good[1], "x"); /* the other registrations are still there */
    CHECK_EQ(step(manager), 1);
    CHECK_EQ(fine.calls, 1);
    if (reuse) {
        CHECK_EQ(drain(good[0]), 1);
        put(other[1], "x");
        CHECK_EQ(step(manager), 1);
        CHECK_EQ(late.calls, 1);
        close(number);
    }
    close(duplicate);
    close(ends[1]);
    close_pipe(other);
    close_pipe(good);
    capstan_manager_free(manager);
}

/* A rebuild of the set leaves out registrations whose number names another file now. */
static void rebuild_finds_others(void) {
    capstan_manager *manager = new_manager("epoll");
    int zombie[2], victim[2], stranger[2];
    struct seen seen = {0}, lost = {0};
    capstan_watch watch;
    make_pipe(zombie);
    make_pipe(victim);
    make_pipe(stranger);
    CHECK_EQ(capstan_fd_register(manager, zombie[0], CAPSTAN_READ, note, &seen, &watch), 0);
    CHECK_EQ(capstan_fd_register(manager, victim[0], CAPSTAN_READ, note, &lost, NULL), 0);
    int duplicate = dup(zombie[0]), number = victim[0];
    close(zombie[0]);
    CHECK_EQ(capstan_fd_unregister(manager, watch), 0);
    close(number);
    place_at(stranger[0], number);
    put(stranger[1], "not for you");
    put(zombie[1], "x");
    CHECK_EQ(run_all(manager) + run_all(manager), 1);
    CHECK_EQ(lost.calls, 1);
    CHECK_EQ(lost.events, CAPSTAN_CLOSED);
    CHECK_EQ(statistics(manager).rebuilds, 1);
    close(number);
    close(duplicate);
    close(zombie[1]);
    close(victim[1]);
    close_pipe(stranger);
    capstan_manager_free(manager);
}

static void close_tells(const char *back_end) {
    capstan_manager *manager = new_manager(back_end), *other = new_manager(back_end);
    int ends[2];
    struct seen a = {0}, b = {0}, c = {0};
    capstan_watch watch;
    make_pipe(ends);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &a, NULL), 0);
    CHECK_EQ(
        capstan_fd_register(manager, ends[0], CAPSTAN_READ | CAPSTAN_ONESHOT, note, &b, &watch), 0);
    CHECK_EQ(capstan_fd_register(other, ends[0], CAPSTAN_READ, note, &c, NULL), 0);
    CHECK_EQ(capstan_fd_close(NULL, ends[0]), 0);
    CHECK_EQ(fcntl(ends[0], F_GETFD), -1);
    CHECK_EQ(capstan_fd_unregister(manager, watch), 0); /* ended before its report: it gets none */
    CHECK_EQ(run_all(manager), 1);
    CHECK_EQ(run_all(other), 1);
    CHECK_EQ(a.events, CAPSTAN_CLOSED);
    CHECK_EQ(b.calls, 0);
    CHECK_EQ(c.events, CAPSTAN_CLOSED);
    CHECK_EQ(statistics(manager).watches, 0);
    CHECK_EQ(capstan_fd_close(manager, ends[0]), EBADF);
    close(ends[1]);
    capstan_manager_free(manager);
    capstan_manager_free(other);
}

static void close_own(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                      void *data) {
    int *calls = data;
    (void)watch;
    if (++*calls == 1) {
        CHECK_EQ(events, CAPSTAN_READ);
        CHECK_EQ(capstan_fd_close(manager, fd), 0);
    } else {
        CHECK_EQ(events, CAPSTAN_CLOSED);
    }
}

/* capstan_fd_unregister_all serves programs that close descriptors by other means. */
static void ends_all(void) {
    capstan_manager *manager = new_manager("epoll"), *other = new_manager("epoll");
    int ends[2];
    struct seen a = {0}, b = {0};
    make_pipe(ends);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &a, NULL), 0);
    CHECK_EQ(capstan_fd_register(other, ends[0], CAPSTAN_READ, note, &b, NULL), 0);
    capstan_fd_unregister_all(manager, ends[0]);
    capstan_fd_unregister_all(manager, ends[1]); /* this descriptor has no registration */
    capstan_fd_unregister_all(manager, -1);
    put(ends[1], "x");
    CHECK_EQ(run_all(manager), 1);
    CHECK_EQ(a.events, CAPSTAN_CLOSED);
    CHECK_EQ(step(other), 1);
    CHECK_EQ(b.events, CAPSTAN_READ);
    CHECK_EQ(fcntl(ends[0], F_GETFD), FD_CLOEXEC);
    close_pipe(ends);
    capstan_manager_free(manager);
    capstan_manager_free(other);
}

static void closes_itself(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    int ends[2], calls = 0;
    make_pipe(ends);
    put(ends[1], "x");
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, close_own, &calls, NULL), 0);
    CHECK_EQ(run_all(manager), 2);
    CHECK_EQ(calls, 2);
    close(ends[1]);
    capstan_manager_free(manager);
}

/* A one-shot has fired, its descriptor was closed, and the number names another file. This is no
 * error, and the new registration works at once. */
static void reused_after_firing(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    for (int i = 0; i < 20; i++) {
        int ends[2];
        struct seen seen = {0};
        make_pipe(ends);
        put(ends[1], "x");
        CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ | CAPSTAN_ONESHOT, note, &seen,
                                     NULL),
                 0);
        CHECK_EQ(run_all(manager), 1);
        CHECK_EQ(seen.events, CAPSTAN_READ);
        close_pipe(ends);
    }
    CHECK_EQ(statistics(manager).rebuilds, 0);
    capstan_manager_free(manager);
}

/* poll cannot tell files apart, but a closed number must not keep the loop busy. */
static void poll_and_closed(void) {
    capstan_manager *manager = new_manager("poll");
    int ends[2];
    struct seen seen = {0};
    make_pipe(ends);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &seen, NULL), 0);
    close(ends[0]);
    CHECK_EQ(step(manager), 1);
    CHECK_EQ(seen.events, CAPSTAN_READ | CAPSTAN_ERROR);
    CHECK_EQ(step(manager), 0);
    close(ends[1]);
    capstan_manager_free(manager);
}

/* A registration with no events wanted learns that its file was closed when its number is
 * registered again, or when it wants events again. */
static void reused_while_quiet(bool regular, bool again) {
    capstan_manager *manager = new_manager("epoll");
    struct seen quiet = {0}, other = {0};
    capstan_watch watch, others;
    int old[2], fresh[2];
    make_pipe(old);
    make_pipe(fresh);
    int number = regular ? open("/dev/null", O_RDONLY) : old[0];
    CHECK_EQ(capstan_fd_register(manager, number, CAPSTAN_READ, note, &quiet, &watch), 0);
    CHECK_EQ(capstan_fd_change(manager, watch, 0), 0);
    close(number);
    put(fresh[1], "x");
    place_at(fresh[0], number);
    if (again)
        CHECK_EQ(capstan_fd_register(manager, number, CAPSTAN_READ, note, &other, &others), 0);
    CHECK_EQ(capstan_fd_change(manager, watch, CAPSTAN_READ), ENOENT);
    CHECK_EQ(step(manager), again ? 2 : 1);
    CHECK_EQ(quiet.calls, 1);
    CHECK_EQ(quiet.events, CAPSTAN_CLOSED);
    CHECK_EQ(other.calls, again ? 1 : 0);
    CHECK_EQ(capstan_fd_unregister(manager, watch), ENOENT);
    close(number);
    close(old[1]);
    close_pipe(fresh);
    capstan_manager_free(manager);
}

int main(void) {
    test_limit(30);
    closed_and_reused();
    regular_files();
    stale_name();
    duplicate_keeps_reporting(false);
    duplicate_keeps_reporting(true);
    rebuild_finds_others();
    close_tells("epoll");
    close_tells("poll");
    ends_all();
    closes_itself("epoll");
    closes_itself("poll");
    reused_after_firing("epoll");
    reused_after_firing("poll");
    poll_and_closed();
    for (int i = 0; i < 4; i++) reused_while_quiet(i & 1, i & 2);
    return 0;
}
