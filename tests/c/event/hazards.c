/* Signals, full descriptor tables, shutdown with events pending, and functions that block. */
#include "event_testing.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

/* --- EINTR --------------------------------------------------------------------------------- */

static int alarms;

static void on_signal(int number) {
    (void)number;
    INCREMENT(&alarms);
}

/* A signal every millisecond ends the wait of a turn; no event is lost, and none is repeated. */
static void interrupted(const char *back_end) {
    struct sigaction action = {.sa_handler = on_signal};
    capstan_manager *manager = new_manager(back_end);
    uint64_t fired = 0;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec every = {{0, 1000000}, {0, 1000000}};
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &every, NULL) == 0);
    uint64_t before = capstan_clock();
    CHECK_EQ(capstan_timer_start(manager, 50 * MS, 0, note_timer, &fired, NULL), 0);
    RUN_UNTIL(manager, fired, 1);
    CHECK(capstan_clock() >= before + 50 * MS);
    CHECK(GET(&alarms) > 5);
    timer_delete(timer);
    CHECK_EQ(fired, 1);
    capstan_manager_free(manager);
}

/* --- EMFILE -------------------------------------------------------------------------------- */

/* Takes descriptors until none is free. */
static int fill_table(int *taken, int most) {
    int count = 0;
    while (count < most && (taken[count] = dup(0)) >= 0) count++;
    CHECK_EQ(errno, EMFILE);
    return count;
}

static void out_of_descriptors(const char *back_end) {
    enum { MOST = 256 };
    struct rlimit before, few = {64, 64};
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    few.rlim_max = before.rlim_max;
    capstan_manager *manager = new_manager(back_end), *other;
    int ends[2], taken[MOST], counted = 0;
    make_pipe(ends);
    struct seen seen = {0};
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    int count = fill_table(taken, MOST);
    struct capstan_manager_options options = {.size = sizeof options, .back_end = back_end};
    for (int free_ones = 0; free_ones < 2; free_ones++) { /* two descriptors too few, then one */
        CHECK_EQ(capstan_manager_new(&other, &options), EMFILE);
        close(taken[--count]);
    }
    taken[count] = dup(0), count++;
    taken[count] = dup(0), count++;
    CHECK(dup(0) < 0);
    /* The first manager goes on working. */
    uint64_t fired = 0;
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &seen, NULL), 0);
    CHECK_EQ(capstan_timer_start(manager, MS, 0, note_timer, &fired, NULL), 0);
    CHECK_EQ(capstan_post(manager, count_post, &counted), 0);
    put(ends[1], "x");
    RUN_UNTIL(manager, fired, 1);
    CHECK(seen.calls >= 1);
    CHECK_EQ(counted, 1);
    while (count > 0) close(taken[--count]);
    CHECK_EQ(capstan_manager_new(&other, &options), 0); /* the next attempt succeeds */
    capstan_manager_free(other);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    capstan_manager_free(manager);
    close_pipe(ends);
}

/* --- shutdown ------------------------------------------------------------------------------ */

static void stop(capstan_manager *manager, void *data) {
    (void)data;
    capstan_shutdown(manager);
}

static void register_late(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                          void *data) {
    (void)watch;
    CHECK_EQ(events, CAPSTAN_CLOSED);
    CHECK_EQ(capstan_fd_register(manager, fd, CAPSTAN_READ, register_late, data, NULL), ESHUTDOWN);
    CHECK_EQ(capstan_timer_start(manager, 0, 0, note_timer, NULL, NULL), ESHUTDOWN);
    CHECK_EQ(capstan_post(manager, stop, NULL), ESHUTDOWN);
    ++*(int *)data;
}

static void shutdown_with_events_pending(void) {
    capstan_manager *manager = new_manager(NULL);
    int ends[2], closed = 0, posted = 0;
    uint64_t expirations = 0;
    make_pipe(ends);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, register_late, &closed, NULL), 0);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ | CAPSTAN_ONESHOT, register_late,
                                 &closed, NULL),
             0);
    CHECK_EQ(capstan_timer_start(manager, 3600000 * MS, 0, note_timer, &expirations, NULL), 0);
    CHECK_EQ(capstan_post(manager, stop, NULL), 0);
    CHECK_EQ(capstan_post(manager, count_post, &posted), 0);
    CHECK_EQ(capstan_loop(manager), 0);
    CHECK_EQ(posted, 1);
    CHECK_EQ(capstan_step(manager, 0, NULL), ESHUTDOWN);
    CHECK_EQ(capstan_loop(manager), 0); /* still shut down */
    CHECK_EQ(closed, 0);
    CHECK_EQ(capstan_manager_free(manager), 0);
    CHECK_EQ(closed, 2);
    CHECK_EQ(expirations, 0);
    close_pipe(ends);
    CHECK_EQ(capstan_manager_free(NULL), 0);
}

static void posted_before_shutdown_runs(void) {
    capstan_manager *manager = new_manager(NULL);
    int posted = 0;
    CHECK_EQ(capstan_post(manager, count_post, &posted), 0);
    capstan_shutdown(manager);
    CHECK_EQ(capstan_loop(manager), 0);
    CHECK_EQ(capstan_manager_free(manager), 0);
    CHECK_EQ(posted, 1);
}

/* --- functions that block -------------------------------------------------------------------- */

struct reports {
    int finished, running;
    uint64_t longest;
    int fd;
    unsigned candidates;
    void (*function)(void);
};

static void on_slow(capstan_manager *manager, const struct capstan_slow *slow, void *data) {
    (void)manager;
    struct reports *reports = data;
    if (slow->still_running) {
        reports->fd = slow->fd;
        INCREMENT(&reports->running);
        return;
    }
    reports->fd = slow->fd;
    reports->function = slow->function;
    reports->candidates = slow->candidates;
    reports->longest = slow->elapsed_ns;
    INCREMENT(&reports->finished);
}

static int in_block, leave_block;

static void block(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                  void *data) {
    (void)manager, (void)watch, (void)fd, (void)events, (void)data;
    SET(&in_block, 1);
    while (!GET(&leave_block)) pause_ms(1);
}

static void *drive(void *manager) {
    CHECK_EQ(capstan_loop(manager), 0);
    return NULL;
}

/* Calls by which another thread touches the manager: a post, a timer, a registration. */
static int posted;
static uint64_t expired;

static void post_one(capstan_manager *manager) {
    CHECK_EQ(capstan_post(manager, count_post, &posted), 0);
}

static void start_one(capstan_manager *manager) {
    CHECK_EQ(capstan_timer_start(manager, 3600000 * MS, 0, note_timer, &expired, NULL), 0);
}

static void register_one(capstan_manager *manager) {
    int ends[2];
    capstan_watch watch;
    make_pipe(ends);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, NULL, &watch), 0);
    CHECK_EQ(capstan_fd_unregister(manager, watch), 0);
    close_pipe(ends);
}

static void blocking_function(void (*pass_by)(capstan_manager *)) {
    SET(&in_block, 0);
    SET(&leave_block, 0);
    struct reports reports = {0};
    struct capstan_manager_options options = {
        .size = sizeof options, .slow_limit = 20 * MS, .slow = on_slow, .slow_data = &reports};
    capstan_manager *manager;
    pthread_t loop;
    int ends[2];
    CHECK_EQ(capstan_manager_new(&manager, &options), 0);
    make_pipe(ends);
    put(ends[1], "x");
    post_one(manager);
    CHECK_EQ(
        capstan_fd_register(manager, ends[0], CAPSTAN_READ | CAPSTAN_ONESHOT, block, NULL, NULL),
        0);
    CHECK(pthread_create(&loop, NULL, drive, manager) == 0);
    AWAIT(&in_block, 1);
    /* While the function blocks, the next calls of this thread notice it, and report it once. */
    while (GET(&reports.running) == 0) {
        pause_ms(10);
        pass_by(manager);
    }
    for (int i = 0; i < 5; i++) pass_by(manager);
    CHECK_EQ(GET(&reports.running), 1);
    CHECK_EQ(reports.fd, ends[0]);
    pause_ms(20);
    SET(&leave_block, 1);
    AWAIT(&reports.finished, 1);
    capstan_shutdown(manager);
    pthread_join(loop, NULL);
    CHECK_EQ(reports.fd, ends[0]);
    CHECK(reports.function == (void (*)(void))block);
    CHECK(reports.longest > 20 * MS);
    CHECK_EQ(statistics(manager).slow_calls, 1);
    CHECK_EQ(reports.candidates, 1);
    CHECK(statistics(manager).slowest_ns == reports.longest);
    capstan_manager_free(manager);
    close_pipe(ends);
}

static void doze(capstan_manager *manager, void *data) {
    (void)manager, (void)data;
    pause_ms(40);
}

static long put_aside(void) {
    struct rusage usage;
    CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
    return usage.ru_nivcsw;
}

/* A single sleep is noticed right after turns in which the loop did not sleep. If the kernel
 * suspended the thread meanwhile, the measurement says nothing, and the test tries again. */
static void sleeps_after_busy_turns(void) {
    struct capstan_manager_options options = {.size = sizeof options, .slow_limit = 20 * MS};
    struct reports reports = {0};
    options.slow = on_slow;
    options.slow_data = &reports;
    capstan_manager *manager;
    CHECK_EQ(capstan_manager_new(&manager, &options), 0);
    int counted = 0;
    for (int known = 0; known < 3;) {
        long before = put_aside();
        pause_ms(10); /* so that both measurements lie after `before` */
        for (int i = 0; i < 3; i++) {
            CHECK_EQ(capstan_post(manager, count_post, &counted), 0);
            CHECK_EQ(capstan_step(manager, CAPSTAN_FOREVER, NULL), 0);
        }
        int reported = reports.finished;
        CHECK_EQ(capstan_post(manager, doze, NULL), 0);
        CHECK_EQ(capstan_step(manager, CAPSTAN_FOREVER, NULL), 0);
        if (put_aside() != before) continue;
        known++;
        CHECK_EQ(reports.finished, reported + 1);
    }
    capstan_manager_free(manager);
}

int main(void) {
    test_limit(30);
    interrupted("epoll");
    interrupted("poll");
    out_of_descriptors("epoll");
    out_of_descriptors("poll");
    shutdown_with_events_pending();
    posted_before_shutdown_runs();
    blocking_function(post_one);
    blocking_function(start_one);
    blocking_function(register_one);
    sleeps_after_busy_turns();
    return 0;
}
