/* Records instead of calls: each data pointer comes back up to its last record, and never after
 * that. */
#include "event_testing.h"

#include "event/manager.h"

#include <pthread.h>

static capstan_manager *pull_manager(void) {
    struct capstan_manager_options options = {.size = sizeof options, .pull = 1};
    capstan_manager *manager;
    CHECK_EQ(capstan_manager_new(&manager, &options), 0);
    return manager;
}

static struct capstan_record one(capstan_manager *manager, uint64_t timeout) {
    struct capstan_record record = {0};
    unsigned count;
    CHECK_EQ(capstan_pull(manager, &record, 1, timeout, &count), 0);
    CHECK_EQ(count, 1);
    return record;
}

static void expect_nothing(capstan_manager *manager) {
    struct capstan_record record;
    unsigned count;
    CHECK_EQ(capstan_pull(manager, &record, 1, 0, &count), 0);
    CHECK_EQ(count, 0);
}

static int datum[8];

static void each_kind(void) {
    capstan_manager *manager = pull_manager();
    int ends[2];
    capstan_watch watch;
    capstan_timer timer;
    make_pipe(ends);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, NULL, &datum[0], &watch), 0);
    CHECK_EQ(capstan_timer_start(manager, 0, 0, NULL, &datum[1], &timer), 0);
    CHECK_EQ(capstan_post(manager, NULL, &datum[2]), 0);
    struct capstan_record record;
    for (int i = 0; i < 2; i++) { /* in any order: the timer is due within a tick */
        record = one(manager, CAPSTAN_FOREVER);
        CHECK(record.last && record.function == NULL);
        if (record.kind == CAPSTAN_RECORD_TIMER) {
            CHECK(record.id == timer && record.data == &datum[1]);
            CHECK_EQ(record.expirations, 1);
        } else {
            CHECK_EQ(record.kind, CAPSTAN_RECORD_POST);
            CHECK(record.data == &datum[2]);
        }
    }
    expect_nothing(manager);
    put(ends[1], "x");
    for (int i = 0; i < 2; i++) {
        record = one(manager, CAPSTAN_FOREVER);
        CHECK_EQ(record.kind, CAPSTAN_RECORD_FD);
        CHECK(record.id == watch && record.data == &datum[0] && !record.last);
        CHECK_EQ(record.events, CAPSTAN_READ);
        CHECK_EQ(record.fd, ends[0]);
    }
    CHECK_EQ(capstan_fd_unregister(manager, watch), 0);
    record = one(manager, 0);
    CHECK(record.data == &datum[0] && record.last && record.id == 0);
    expect_nothing(manager);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ | CAPSTAN_ONESHOT, NULL, &datum[3],
                                 &watch),
             0);
    record = one(manager, 0);
    CHECK(record.id == watch && record.data == &datum[3] && record.last);
    expect_nothing(manager);
    close_pipe(ends);
    CHECK_EQ(capstan_manager_free(manager), 0);
}

/* The data pointers of cancelled timers come back too, although a cancellation wakes no thread. */
static void cancelled(void) {
    capstan_manager *manager = pull_manager();
    static char data[1000];
    static bool back[1000];
    for (int i = 0; i < 1000; i++) {
        capstan_timer timer;
        CHECK_EQ(capstan_timer_start(manager, CAPSTAN_FOREVER, 0, NULL, &data[i], &timer), 0);
        CHECK_EQ(capstan_timer_cancel(manager, timer), 0);
    }
    for (int i = 0; i < 1000; i++) {
        struct capstan_record record = one(manager, 0);
        CHECK(record.last && record.id == 0);
        long index = (char *)record.data - data;
        CHECK(index >= 0 && index < 1000 && !back[index]);
        back[index] = true;
    }
    expect_nothing(manager);
    CHECK_EQ(capstan_manager_free(manager), 0);
}

/* Records that do not fit into one pull come with the next. */
static void little_room(void) {
    enum { CROWD = 50 };
    capstan_manager *manager = pull_manager();
    int ends[2], seen[CROWD] = {0};
    make_pipe(ends);
    put(ends[1], "x");
    for (int i = 0; i < CROWD; i++)
        CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ | CAPSTAN_ONESHOT, NULL,
                                     &seen[i], NULL),
                 0);
    for (int left = CROWD; left > 0;) {
        struct capstan_record record[7];
        unsigned count;
        CHECK_EQ(capstan_pull(manager, record, 7, CAPSTAN_FOREVER, &count), 0);
        for (unsigned i = 0; i < count; i++) ++*(int *)record[i].data;
        left -= (int)count;
    }
    for (int i = 0; i < CROWD; i++) CHECK_EQ(seen[i], 1);
    expect_nothing(manager);
    close_pipe(ends);
    CHECK_EQ(capstan_manager_free(manager), 0);
}

static void shut_down(void) {
    capstan_manager *manager = pull_manager();
    int ends[2];
    struct capstan_record record;
    unsigned count, kinds = 0;
    make_pipe(ends);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, NULL, &datum[0], NULL), 0);
    CHECK_EQ(capstan_timer_start(manager, CAPSTAN_FOREVER, 1, NULL, &datum[1], NULL), 0);
    CHECK_EQ(capstan_post(manager, NULL, &datum[2]), 0);
    capstan_shutdown(manager);
    for (int i = 0; i < 3; i++) {
        record = one(manager, CAPSTAN_FOREVER);
        CHECK(record.last);
        CHECK((record.id != 0) == (record.kind != CAPSTAN_RECORD_POST));
        kinds |= 1u << record.kind;
        CHECK_EQ(record.expirations, 0);
        CHECK_EQ(record.events, record.kind == CAPSTAN_RECORD_FD ? CAPSTAN_CLOSED : 0);
    }
    CHECK_EQ(kinds, 14);
    CHECK_EQ(capstan_pull(manager, &record, 1, CAPSTAN_FOREVER, &count), ESHUTDOWN);
    CHECK_EQ(capstan_manager_free(manager), 0);
    close_pipe(ends);
}

static void modes_do_not_mix(void) {
    capstan_manager *manager = pull_manager(), *ordinary = new_manager(NULL);
    struct capstan_record record;
    unsigned count;
    CHECK_EQ(capstan_loop(manager), EINVAL);
    CHECK_EQ(capstan_step(manager, 0, NULL), EINVAL);
    CHECK_EQ(capstan_pull(ordinary, &record, 1, 0, &count), EINVAL);
    CHECK_EQ(capstan_pull(manager, &record, 0, 0, &count), EINVAL);
    CHECK_EQ(capstan_manager_free(manager), 0);
    CHECK_EQ(capstan_manager_free(ordinary), 0);
}

/* capstan_quiesce waits until the program is done with the records that it pulled. */
static int quiet;

static void *wait_for_quiet(void *manager) {
    capstan_quiesce(manager);
    SET(&quiet, 1);
    return NULL;
}

static void records_count_as_running(void) {
    capstan_manager *manager = pull_manager();
    pthread_t thread;
    CHECK_EQ(capstan_post(manager, NULL, &datum[0]), 0);
    one(manager, 0);
    CHECK(pthread_create(&thread, NULL, wait_for_quiet, manager) == 0);
    pause_ms(20);
    CHECK_EQ(GET(&quiet), 0);
    expect_nothing(manager);
    pthread_join(thread, NULL);
    capstan_quiesce(manager);
    CHECK_EQ(capstan_manager_free(manager), 0);
}

/* A host that cannot know which threads still hold a manager's handle ends the manager first. Its
 * descriptors are closed, and every later call returns an error. */
static void ended(void) {
    capstan_manager *manager = pull_manager();
    int ends[2], before = dup(0), after;
    capstan_watch watch;
    capstan_timer timer;
    close(before);
    make_pipe(ends);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, NULL, NULL, &watch), 0);
    CHECK_EQ(capstan_timer_start(manager, 3600000 * MS, 0, NULL, NULL, &timer), 0);
    CHECK_EQ(capstan_timer_cancel(manager, timer), 0);
    CHECK_EQ(capstan_timer_start(manager, 3600000 * MS, 0, NULL, NULL, &timer), 0);
    CHECK_EQ(capstan_post(manager, NULL, NULL), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(cst_manager_end(manager), 0);
        CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, NULL, NULL, NULL), ESHUTDOWN);
        CHECK_EQ(capstan_fd_change(manager, watch, CAPSTAN_WRITE), ENOENT);
        CHECK_EQ(capstan_fd_unregister(manager, watch), ENOENT);
        capstan_fd_unregister_all(manager, ends[0]);
        CHECK_EQ(capstan_timer_start(manager, 0, 0, NULL, NULL, NULL), ESHUTDOWN);
        CHECK_EQ(capstan_timer_reschedule(manager, timer, 0), ENOENT);
        CHECK_EQ(capstan_timer_cancel(manager, timer), ENOENT);
        CHECK_EQ(capstan_post(manager, NULL, NULL), ESHUTDOWN);
        capstan_shutdown(manager);
        capstan_quiesce(manager);
        cst_manager_wake(manager);
        struct capstan_record record;
        unsigned count;
        CHECK_EQ(capstan_pull(manager, &record, 1, CAPSTAN_FOREVER, &count), ESHUTDOWN);
        CHECK_EQ(count, 0);
        CHECK_EQ(statistics(manager).watches + statistics(manager).timers, 0);
    }
    close_pipe(ends);
    after = dup(0);
    CHECK(after < before); /* the manager's own descriptors had the lowest numbers */
    close(after);
    CHECK_EQ(capstan_manager_free(manager), 0);
}

int main(void) {
    test_limit(30);
    each_kind();
    cancelled();
    little_room();
    shut_down();
    modes_do_not_mix();
    records_count_as_running();
    ended();
    return 0;
}
