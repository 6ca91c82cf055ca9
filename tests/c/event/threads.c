/* One loop and many other threads. No event is lost, no function is called after its end, and the
 * loop is woken only when it sleeps. */
#include "event_testing.h"

#include <pthread.h>

enum { THREADS = 4 };

static void *drive(void *manager) {
    CHECK_EQ(capstan_loop(manager), 0);
    return NULL;
}

static void spawn(pthread_t *thread, void *(*body)(void *), void *argument) {
    CHECK(pthread_create(thread, NULL, body, argument) == 0);
}

/* --- posts: all arrive, in order for each poster ------------------------------------------ */

enum { POSTS = 20000 };

struct poster {
    capstan_manager *manager;
    int sent, seen;
};

struct message {
    struct poster *poster;
    int number;
};

static int arrived;

static void receive(capstan_manager *manager, void *data) {
    (void)manager;
    struct message *message = data;
    CHECK_EQ(message->poster->seen++, message->number);
    free(message);
    INCREMENT(&arrived);
}

static void *post_all(void *data) {
    struct poster *poster = data;
    for (int i = 0; i < POSTS; i++) {
        struct message *message = malloc(sizeof *message);
        *message = (struct message){poster, i};
        CHECK_EQ(capstan_post(poster->manager, receive, message), 0);
    }
    return NULL;
}

static void posts(void) {
    capstan_manager *manager = new_manager(NULL);
    pthread_t loop, thread[THREADS];
    struct poster poster[THREADS] = {0};
    spawn(&loop, drive, manager);
    for (int i = 0; i < THREADS; i++) {
        poster[i].manager = manager;
        spawn(&thread[i], post_all, &poster[i]);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    AWAIT(&arrived, THREADS * POSTS);
    capstan_shutdown(manager);
    pthread_join(loop, NULL);
    CHECK_EQ(statistics(manager).post_calls, THREADS * POSTS);
    CHECK_EQ(capstan_post(manager, receive, NULL), ESHUTDOWN);
    capstan_manager_free(manager);
}

/* --- registrations: of a one-shot, exactly one of `called` and `ended by a call` ----------- */

enum { ONE_SHOTS = 1000 };

struct once {
    int calls;
};

static void fire_once(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                      void *data) {
    (void)manager, (void)watch, (void)fd, (void)events;
    INCREMENT(&((struct once *)data)->calls);
}

static void fire_timer(capstan_manager *manager, capstan_timer timer, uint64_t expirations,
                       void *data) {
    (void)manager, (void)timer, (void)expirations;
    INCREMENT(&((struct once *)data)->calls);
}

static void *one_shots(void *data) {
    capstan_manager *manager = data;
    int ends[2];
    make_pipe(ends);
    put(ends[1], "x"); /* always readable */
    for (int i = 0; i < ONE_SHOTS; i++) {
        struct once by_fd = {0}, by_timer = {0};
        capstan_watch watch;
        capstan_timer timer;
        CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ | CAPSTAN_ONESHOT, fire_once,
                                     &by_fd, &watch),
                 0);
        CHECK_EQ(capstan_timer_start(manager, (uint64_t)(i % 4) * 50000, 0, fire_timer, &by_timer,
                                     &timer),
                 0);
        for (int spin = i % 7 * 20; spin > 0; spin--) sched_yield();
        int fd_ended = capstan_fd_unregister(manager, watch) == 0;
        int timer_ended = capstan_timer_cancel(manager, timer) == 0;
        capstan_quiesce(manager);
        CHECK_EQ(GET(&by_fd.calls) + fd_ended, 1);
        CHECK_EQ(GET(&by_timer.calls) + timer_ended, 1);
    }
    close_pipe(ends);
    return NULL;
}

/* --- persistent registrations: after unregister and quiesce the data may be freed ----------- */

enum { LIVES = 500 };

struct life {
    int alive;
    int calls;
};

static void live(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                 void *data) {
    (void)manager, (void)watch, (void)fd, (void)events;
    struct life *life = data;
    CHECK_EQ(GET(&life->alive), 1);
    INCREMENT(&life->calls);
}

static void *lives(void *data) {
    capstan_manager *manager = data;
    int ends[2];
    make_pipe(ends);
    put(ends[1], "x");
    for (int i = 0; i < LIVES; i++) {
        struct life *life = malloc(sizeof *life);
        *life = (struct life){.alive = 1};
        capstan_watch watch;
        CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, live, life, &watch), 0);
        while (i % 3 == 0 && GET(&life->calls) == 0) sched_yield();
        CHECK_EQ(capstan_fd_unregister(manager, watch), 0);
        capstan_quiesce(manager);
        SET(&life->alive, 0);
        free(life);
    }
    close_pipe(ends);
    return NULL;
}

static void registrations(void *(*body)(void *), const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    pthread_t loop, thread[THREADS];
    spawn(&loop, drive, manager);
    for (int i = 0; i < THREADS; i++) spawn(&thread[i], body, manager);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    CHECK_EQ(statistics(manager).watches, 0);
    CHECK_EQ(statistics(manager).timers, 0);
    capstan_shutdown(manager);
    pthread_join(loop, NULL);
    capstan_manager_free(manager);
}

/* --- regular files: the kernel reports none, so a loop that sleeps must be woken ------------- */

static void count_call(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                       void *data) {
    (void)manager, (void)watch, (void)fd, (void)events;
    INCREMENT((int *)data);
}

static void regular_file(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    pthread_t loop;
    int calls = 0;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    spawn(&loop, drive, manager);
    for (int i = 1; i <= 10; i++) {
        CHECK_EQ(capstan_fd_register(manager, fd, CAPSTAN_READ | CAPSTAN_ONESHOT, count_call,
                                     &calls, NULL),
                 0);
        AWAIT(&calls, i);
        pause_ms(2); /* now it sleeps */
    }
    capstan_shutdown(manager);
    pthread_join(loop, NULL);
    capstan_manager_free(manager);
    close(fd);
}

/* --- wake-ups ---------------------------------------------------------------------------- */

static int entered, may_leave;

static void hold(capstan_manager *manager, void *data) {
    (void)manager, (void)data;
    SET(&entered, 1);
    AWAIT(&may_leave, 1);
}

/* A loop that runs a function is not woken, as it looks for posts before it sleeps. A sleeping loop
 * is woken once for any number of posts. A timer that is due later than the loop's next wake-up
 * does not wake it. */
static void wakes_only_a_sleeper(void) {
    capstan_manager *manager = new_manager(NULL);
    pthread_t loop;
    uint64_t timers = 0;
    int counted = 0, ends[2];
    struct seen seen = {0};
    CHECK_EQ(capstan_post(manager, hold, NULL), 0);
    spawn(&loop, drive, manager);
    AWAIT(&entered, 1);
    CHECK_EQ(statistics(manager).wake_ups, 0);
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(capstan_post(manager, count_post, &counted), 0);
        CHECK_EQ(capstan_timer_start(manager, 3600000 * MS, 0, note_timer, &timers, NULL), 0);
    }
    CHECK_EQ(statistics(manager).wake_ups, 0);
    SET(&may_leave, 1);
    uint64_t turns;
    do { /* until the loop sleeps: no counter shows that, but its turns stand still */
        turns = statistics(manager).turns;
        pause_ms(20);
    } while (statistics(manager).turns != turns || statistics(manager).post_calls < 101);
    CHECK_EQ(statistics(manager).wake_ups, 0);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(capstan_timer_start(manager, 3600001 * MS, 0, note_timer, &timers, NULL), 0);
    make_pipe(ends);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &seen, NULL), 0);
    CHECK_EQ(statistics(manager).wake_ups, 0); /* epoll needs no wake-up for it */
    CHECK_EQ(capstan_post(manager, count_post, &counted), 0);
    CHECK_EQ(statistics(manager).wake_ups, 1);
    capstan_shutdown(manager);
    pthread_join(loop, NULL);
    capstan_manager_free(manager);
    CHECK_EQ(counted, 101);
    CHECK_EQ(seen.events, CAPSTAN_CLOSED);
    close_pipe(ends);
}

/* A timer that is earlier than the loop's sleep wakes it. */
static void earlier_timer(void) {
    capstan_manager *manager = new_manager(NULL);
    pthread_t loop;
    struct once late = {0}, early = {0};
    CHECK_EQ(capstan_timer_start(manager, 3600000 * MS, 0, fire_timer, &late, NULL), 0);
    spawn(&loop, drive, manager);
    for (int i = 1; i <= 20; i++) {
        pause_ms(1);
        CHECK_EQ(capstan_timer_start(manager, MS, 0, fire_timer, &early, NULL), 0);
        AWAIT(&early.calls, i);
    }
    CHECK_EQ(GET(&late.calls), 0);
    capstan_shutdown(manager);
    pthread_join(loop, NULL);
    capstan_manager_free(manager);
    CHECK_EQ(GET(&late.calls), 1);
}

/* --- only one thread drives ---------------------------------------------------------------- */

static void drive_twice(capstan_manager *manager, void *data) {
    CHECK_EQ(capstan_loop(manager), EBUSY);
    CHECK_EQ(capstan_step(manager, 0, NULL), EBUSY);
    CHECK_EQ(capstan_manager_free(manager), EBUSY);
    capstan_quiesce(manager); /* returns at once on the manager's own thread */
    ++*(int *)data;
}

static void one_driver(void) {
    capstan_manager *manager = new_manager(NULL);
    int done = 0;
    CHECK_EQ(capstan_post(manager, drive_twice, &done), 0);
    CHECK_EQ(step(manager), 1);
    CHECK_EQ(done, 1);
    capstan_quiesce(manager); /* no thread drives the loop */
    CHECK_EQ(capstan_manager_free(manager), 0);
}

int main(void) {
    test_limit(60);
    posts();
    registrations(one_shots, "epoll");
    registrations(one_shots, "poll");
    registrations(lives, "epoll");
    registrations(lives, "poll");
    regular_file("epoll");
    regular_file("poll");
    wakes_only_a_sleeper();
    earlier_timer();
    one_driver();
    return 0;
}
