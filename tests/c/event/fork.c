/* After a fork the managers of both processes work, and neither disturbs the other.
 *
 * test: not thread ThreadSanitizer starts no threads after a fork */
#include "event_testing.h"

#include <pthread.h>
#include <sys/wait.h>

static void expect_success(pid_t child) {
    int status;
    CHECK(child > 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
}

/* A manager that the program drives: the child has its registrations, timers and posts too. The
 * changes of the child do not reach the parent. */
static void own_manager(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    int ends[2], other[2], counted = 0;
    struct seen seen = {0}, kept = {0};
    uint64_t fired = 0;
    make_pipe(ends);
    make_pipe(other);
    capstan_watch watch;
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &seen, &watch), 0);
    CHECK_EQ(
        capstan_fd_register(manager, other[0], CAPSTAN_READ | CAPSTAN_ONESHOT, note, &kept, NULL),
        0);
    CHECK_EQ(capstan_timer_start(manager, 0, 0, note_timer, &fired, NULL), 0);
    CHECK_EQ(capstan_post(manager, count_post, &counted), 0);
    put(ends[1], "x");
    pid_t child = fork();
    if (child == 0) {
        test_limit(10);
        CHECK_EQ(capstan_forks(), 1);
        RUN_UNTIL(manager, fired, 1);
        CHECK_EQ(counted, 1);
        CHECK(seen.calls >= 1);
        CHECK_EQ(seen.events, CAPSTAN_READ);
        CHECK_EQ(capstan_fd_unregister(manager, watch), 0);
        put(other[1], "y");
        RUN_UNTIL(manager, kept.calls, 1);
        struct seen late = {0};
        CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &late, NULL), 0);
        RUN_UNTIL(manager, late.calls, 1);
        CHECK_EQ(capstan_manager_free(manager), 0);
        CHECK_EQ(late.events, CAPSTAN_CLOSED);
        _exit(0);
    }
    expect_success(child);
    RUN_UNTIL(manager, fired, 1);
    CHECK_EQ(counted, 1);
    CHECK(seen.calls >= 1);
    CHECK_EQ(seen.events, CAPSTAN_READ);
    RUN_UNTIL(manager, kept.calls, 1);
    CHECK_EQ(kept.events, CAPSTAN_READ);
    capstan_manager_free(manager);
    close_pipe(ends);
    close_pipe(other);
}

/* The function that forks returns in both processes. The other ready events are handled once in
 * each process. */
static int forks, calls_after;
static pid_t forked;

static void fork_inside(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                        void *data) {
    (void)manager, (void)watch, (void)fd, (void)events, (void)data;
    if (++forks == 1) {
        forked = fork();
        CHECK(forked >= 0);
        if (forked == 0) test_limit(10);
    } else {
        calls_after++;
    }
}

static void fork_in_function(void) {
    capstan_manager *manager = new_manager("epoll");
    int first[2], second[2];
    make_pipe(first);
    make_pipe(second);
    put(first[1], "x");
    put(second[1], "x");
    unsigned events = CAPSTAN_READ | CAPSTAN_ONESHOT;
    CHECK_EQ(capstan_fd_register(manager, first[0], events, fork_inside, NULL, NULL), 0);
    CHECK_EQ(capstan_fd_register(manager, second[0], events, fork_inside, NULL, NULL), 0);
    RUN_UNTIL(manager, calls_after, 1);
    CHECK_EQ(run_all(manager), 0);
    CHECK_EQ(forks, 2);
    if (forked == 0) _exit(0);
    expect_success(forked);
    close_pipe(first);
    close_pipe(second);
    capstan_manager_free(manager);
}

/* Another thread drives the manager. It does not exist in the child, where a new thread can
 * drive. */
static void *drive(void *manager) {
    CHECK_EQ(capstan_loop(manager), 0);
    return NULL;
}

static void driven_elsewhere(void) {
    capstan_manager *manager = new_manager(NULL);
    pthread_t loop;
    int ends[2];
    struct seen seen = {0};
    make_pipe(ends);
    CHECK(pthread_create(&loop, NULL, drive, manager) == 0);
    CHECK_EQ(
        capstan_fd_register(manager, ends[0], CAPSTAN_READ | CAPSTAN_ONESHOT, note, &seen, NULL),
        0);
    pause_ms(5);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            test_limit(10);
            CHECK_EQ(step(manager), 0);
            capstan_quiesce(manager);
            put(ends[1], "x");
            RUN_UNTIL(manager, seen.calls, 1);
            CHECK_EQ(drain(ends[0]), 1);
            _exit(0);
        }
        expect_success(child);
    }
    capstan_shutdown(manager);
    pthread_join(loop, NULL);
    capstan_manager_free(manager);
    close_pipe(ends);
}

/* The child does not report a function as stuck that a thread of the parent was running. */
static int stuck, dozing, wake_up;

static void on_slow(capstan_manager *manager, const struct capstan_slow *slow, void *data) {
    (void)manager, (void)data;
    stuck += slow->still_running;
}

static void doze(capstan_manager *manager, void *data) {
    (void)manager, (void)data;
    SET(&dozing, 1);
    while (!GET(&wake_up)) pause_ms(1);
}

static void driver_in_a_function(void) {
    struct capstan_manager_options options = {
        .size = sizeof options, .slow_limit = 20 * MS, .slow = on_slow};
    capstan_manager *manager;
    pthread_t loop;
    int counted = 0;
    CHECK_EQ(capstan_manager_new(&manager, &options), 0);
    CHECK(pthread_create(&loop, NULL, drive, manager) == 0);
    CHECK_EQ(capstan_post(manager, doze, NULL), 0);
    while (!GET(&dozing)) pause_ms(1);
    pid_t child = fork();
    if (child == 0) {
        test_limit(10);
        pause_ms(400); /* other threads report a function after ten times the limit */
        CHECK_EQ(capstan_post(manager, count_post, &counted), 0);
        CHECK_EQ(stuck, 0);
        RUN_UNTIL(manager, counted, 1);
        _exit(0);
    }
    expect_success(child);
    SET(&wake_up, 1);
    capstan_shutdown(manager);
    pthread_join(loop, NULL);
    capstan_manager_free(manager);
}

/* The program forks while other threads are inside the manager's calls: the child never finds a
 * lock taken. */
static int stop_busy;

static void *busy(void *data) {
    capstan_manager *manager = data;
    int ends[2];
    make_pipe(ends);
    uint64_t fired = 0;
    struct seen seen = {0};
    while (!GET(&stop_busy)) {
        capstan_watch watch;
        capstan_timer timer;
        CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &seen, &watch), 0);
        CHECK_EQ(capstan_timer_start(manager, 3600000 * MS, 0, note_timer, &fired, &timer), 0);
        CHECK_EQ(capstan_fd_unregister(manager, watch), 0);
        CHECK_EQ(capstan_timer_cancel(manager, timer), 0);
    }
    close_pipe(ends);
    return NULL;
}

static void fork_among_threads(void) {
    capstan_manager *manager = new_manager(NULL);
    pthread_t loop, thread[2];
    int counted = 0;
    CHECK(pthread_create(&loop, NULL, drive, manager) == 0);
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&thread[i], NULL, busy, manager) == 0);
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (child == 0) {
            test_limit(10);
            CHECK_EQ(capstan_post(manager, count_post, &counted), 0);
            RUN_UNTIL(manager, counted, 1);
            _exit(0);
        }
        expect_success(child);
    }
    SET(&stop_busy, 1);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    capstan_shutdown(manager);
    pthread_join(loop, NULL);
    capstan_manager_free(manager);
}

/* The default managers start empty in the child, and work there. */
static int fired_here;

static void fire(capstan_manager *manager, capstan_timer timer, uint64_t expirations, void *data) {
    (void)manager, (void)timer, (void)expirations, (void)data;
    INCREMENT(&fired_here);
}

static void default_managers(void) {
    capstan_manager *manager = capstan_manager_default();
    CHECK(manager != NULL);
    CHECK_EQ(capstan_loop(manager), EINVAL);
    CHECK_EQ(capstan_manager_free(manager), EBUSY);
    CHECK_EQ(capstan_timer_start(manager, 100 * MS, 0, fire, NULL, NULL), 0);
    pid_t child = fork();
    if (child == 0) {
        test_limit(10);
        capstan_manager *own = capstan_manager_default();
        CHECK(own != NULL);
        CHECK_EQ(statistics(own).timers, 0);
        CHECK_EQ(capstan_timer_start(own, MS, 0, fire, NULL, NULL), 0);
        AWAIT(&fired_here, 1);
        pause_ms(150);
        CHECK_EQ(GET(&fired_here), 1); /* the timer of the parent does not fire here */
        _exit(0);
    }
    expect_success(child);
    AWAIT(&fired_here, 1);
}

/* The child has no free descriptor: its calls say so, and succeed when descriptors are free
 * again. */
static void child_without_descriptors(void) {
    capstan_manager *manager = new_manager("epoll");
    int ends[2];
    struct seen seen = {0}, ended = {0};
    capstan_watch watch;
    make_pipe(ends);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &seen, NULL), 0);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &ended, &watch), 0);
    put(ends[1], "x");
    pid_t child = fork();
    if (child == 0) {
        test_limit(10);
        int first = dup(0);
        while (dup(0) >= 0) continue;
        CHECK_EQ(errno, EMFILE);
        CHECK_EQ(capstan_step(manager, 0, NULL), EMFILE);
        CHECK_EQ(capstan_fd_register(manager, ends[1], CAPSTAN_WRITE, note, &seen, NULL), EMFILE);
        CHECK_EQ(capstan_fd_unregister(manager, watch), 0); /* to unregister needs no descriptor */
        for (int fd = first; fd < first + 4; fd++) close(fd);
        CHECK_EQ(step(manager), 1);
        CHECK_EQ(seen.calls, 1);
        _exit(0);
    }
    expect_success(child);
    CHECK_EQ(step(manager), 2);
    capstan_manager_free(manager);
    close_pipe(ends);
}

int main(void) {
    test_limit(60);
    CHECK_EQ(capstan_forks(), 0);
    own_manager("epoll");
    own_manager("poll");
    fork_in_function();
    driven_elsewhere();
    driver_in_a_function();
    fork_among_threads();
    child_without_descriptors();
    default_managers();
    return 0;
}
