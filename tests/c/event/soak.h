/* Random registration, closing and firing for SOAK_SECONDS. No event is lost, none is spurious,
 * every end is reported once, and the use of memory stays constant.
 *
 * Two loops, on epoll and on poll, are driven by threads of their own. Two more threads, the
 * actors, play one round after another. A round has its own pipe or timer, does something random
 * with it, and waits until all expected calls have come. A lost event makes a round hang, and the
 * alarm ends the test. Rounds close descriptors all the time, so numbers are reused, by the other
 * actor too. */
#include "event_testing.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { ACTORS = 2, MOST_BYTES = 5 };

static capstan_manager *loop[2];
/* ThreadSanitizer reports that an actor closes a number while the other uses it. The test does so
 * on purpose.
 */
#if defined(__SANITIZE_THREAD__)
static const bool forgetful = false;
#else
static const bool forgetful = true;
#endif
static double soak_until;

static double soak_clock(void) {
    return (double)capstan_clock() / 1e9;
}

static uint64_t random_bits(uint64_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* --- descriptors ---------------------------------------------------------------------------- */

struct pipe_round {
    int end[2];
    unsigned modes;
    int bytes, calls, closed; /* the events reported so far */
    int over;                 /* no function may be called any more */
};

static void on_pipe(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                    void *data) {
    struct pipe_round *round = data;
    (void)manager, (void)watch;
    CHECK_EQ(GET(&round->over), 0);
    CHECK_EQ(fd, round->end[0]);
    if (events & CAPSTAN_CLOSED) {
        CHECK_EQ(events, CAPSTAN_CLOSED);
        CHECK_EQ(INCREMENT(&round->closed), 1);
        return;
    }
    CHECK_EQ(GET(&round->closed), 0);
    CHECK_EQ(events, CAPSTAN_READ);
    INCREMENT(&round->calls);
    char sink[MOST_BYTES];
    ssize_t got = read(fd, sink, sizeof sink);
    /* A byte that comes while the function serves an edge is read with it, and makes another edge.
     */
    if (got < 0) CHECK(errno == EAGAIN && (round->modes & CAPSTAN_EDGE));
    if (got > 0) __atomic_add_fetch(&round->bytes, (int)got, __ATOMIC_ACQ_REL);
}

static void await_bytes(const struct pipe_round *round, int bytes) {
    while (GET(&round->bytes) < bytes) sched_yield();
    CHECK_EQ(GET(&round->bytes), bytes);
}

/* A persistent registration: bytes come at any time, and then one of three ends. */
static void play_persistent(capstan_manager *manager, struct pipe_round *round, uint64_t *seed) {
    capstan_watch watch;
    CHECK_EQ(capstan_fd_register(manager, round->end[0], CAPSTAN_READ | round->modes, on_pipe,
                                 round, &watch),
             0);
    int count = (int)(random_bits(seed) % MOST_BYTES);
    for (int i = 0; i < count; i++) put(round->end[1], "x");
    if (random_bits(seed) % 2) CHECK_EQ(capstan_fd_change(manager, watch, CAPSTAN_READ), 0);
    bool told = random_bits(seed) % 2;
    if (told) {
        await_bytes(round, count);
        CHECK_EQ(capstan_fd_close(random_bits(seed) % 2 ? manager : NULL, round->end[0]), 0);
        AWAIT(&round->closed, 1);
        CHECK_EQ(capstan_fd_unregister(manager, watch), ENOENT);
    } else {
        if (random_bits(seed) % 2) await_bytes(round, count);
        CHECK_EQ(capstan_fd_unregister(manager, watch), 0);
        CHECK_EQ(capstan_fd_unregister(manager, watch), ENOENT);
        capstan_quiesce(manager);
        close(round->end[0]);
    }
    capstan_quiesce(manager);
    CHECK_EQ(GET(&round->closed), told);
}

/* A one-shot registration is either called once or ended by a call; exactly one of the two
 * happens. */
static void play_oneshot(capstan_manager *manager, struct pipe_round *round, uint64_t *seed) {
    capstan_watch watch;
    bool ready = random_bits(seed) % 2;
    if (ready) put(round->end[1], "x");
    CHECK_EQ(capstan_fd_register(manager, round->end[0], CAPSTAN_READ | CAPSTAN_ONESHOT, on_pipe,
                                 round, &watch),
             0);
    if (!ready && random_bits(seed) % 2) put(round->end[1], "x"), ready = true;
    if (ready && random_bits(seed) % 2) {
        AWAIT(&round->calls, 1);
        CHECK_EQ(capstan_fd_unregister(manager, watch), ENOENT);
    } else if (capstan_fd_unregister(manager, watch) == ENOENT) {
        AWAIT(&round->calls, 1);
    } else {
        CHECK_EQ(GET(&round->calls), 0);
    }
    capstan_quiesce(manager);
    CHECK(GET(&round->calls) <= 1);
    close(round->end[0]);
}

/* The descriptor is closed while it is registered, without a call to the manager. No event comes
 * any more, and the next registration of the number is not affected. */
static void play_forgetful(capstan_manager *manager, struct pipe_round *round) {
    capstan_watch watch;
    CHECK_EQ(capstan_fd_register(manager, round->end[0], CAPSTAN_READ | round->modes, on_pipe,
                                 round, &watch),
             0);
    close(round->end[0]);
    /* ENOENT: the other actor has registered the number, so this registration is told
     * CAPSTAN_CLOSED. */
    if (capstan_fd_unregister(manager, watch) == ENOENT) AWAIT(&round->closed, 1);
    capstan_quiesce(manager);
    CHECK_EQ(GET(&round->bytes), 0);
}

static void play_pipe(capstan_manager *manager, uint64_t *seed) {
    struct pipe_round *round = calloc(1, sizeof *round);
    CHECK(round != NULL);
    make_pipe(round->end);
    if (manager == loop[0] && random_bits(seed) % 2) round->modes = CAPSTAN_EDGE;
    uint64_t kind = random_bits(seed) % 5;
    if (kind == 0 && forgetful && manager == loop[0]) /* poll knows numbers alone */
        play_forgetful(manager, round);
    else if (kind < 3)
        play_oneshot(manager, round, seed);
    else
        play_persistent(manager, round, seed);
    SET(&round->over, 1);
    close(round->end[1]);
    free(round);
}

/* --- timers and posts ------------------------------------------------------------------------ */

struct timer_round {
    uint64_t earliest, period;
    uint64_t fired;
    int calls, over;
};

static void on_timer(capstan_manager *manager, capstan_timer timer, uint64_t expirations,
                     void *data) {
    struct timer_round *round = data;
    (void)manager, (void)timer;
    CHECK_EQ(GET(&round->over), 0);
    CHECK(expirations > 0);
    uint64_t before = __atomic_fetch_add(&round->fired, expirations, __ATOMIC_ACQ_REL);
    uint64_t last = before + expirations - 1; /* the number of the last expiration, from 0 */
    CHECK(capstan_clock() >= GET(&round->earliest) + last * round->period);
    INCREMENT(&round->calls);
}

static void play_timer(capstan_manager *manager, uint64_t *seed) {
    struct timer_round *round = calloc(1, sizeof *round);
    CHECK(round != NULL);
    capstan_timer timer;
    uint64_t delay = random_bits(seed) % (2 * MS);
    if (random_bits(seed) % 4 == 0) round->period = 1 + random_bits(seed) % MS;
    round->earliest = capstan_clock() + delay;
    CHECK_EQ(capstan_timer_start(manager, delay, round->period, on_timer, round, &timer), 0);
    if (random_bits(seed) % 4 == 0) pause_ms(0), sched_yield();
    if (round->period == 0 && random_bits(seed) % 2) {
        AWAIT(&round->calls, 1);
        CHECK_EQ(capstan_timer_cancel(manager, timer), ENOENT);
    } else if (round->period == 0) {
        bool cancelled = capstan_timer_cancel(manager, timer) == 0;
        if (!cancelled) AWAIT(&round->calls, 1);
        capstan_quiesce(manager);
        CHECK_EQ(GET(&round->calls), !cancelled);
    } else {
        if (random_bits(seed) % 2) AWAIT(&round->calls, 2);
        CHECK_EQ(capstan_timer_cancel(manager, timer), 0);
        CHECK_EQ(capstan_timer_cancel(manager, timer), ENOENT);
    }
    capstan_quiesce(manager);
    SET(&round->over, 1);
    free(round);
}

static void on_post(capstan_manager *manager, void *data) {
    (void)manager;
    INCREMENT((int *)data);
}

static void play_post(capstan_manager *manager, uint64_t *seed) {
    int count = 1 + (int)(random_bits(seed) % 20), *calls = calloc(1, sizeof *calls);
    CHECK(calls != NULL);
    for (int i = 0; i < count; i++) CHECK_EQ(capstan_post(manager, on_post, calls), 0);
    AWAIT(calls, count);
    capstan_quiesce(manager);
    CHECK_EQ(GET(calls), count);
    free(calls);
}

/* --- the whole -------------------------------------------------------------------------------- */

static void *act(void *data) {
    uint64_t seed = (uint64_t)(uintptr_t)data * 0x9e3779b97f4a7c15u + 1;
    while (soak_clock() < soak_until) {
        capstan_manager *manager = loop[random_bits(&seed) % 2];
        uint64_t kind = random_bits(&seed) % 8;
        if (kind == 0)
            play_post(manager, &seed);
        else if (kind < 3)
            play_timer(manager, &seed);
        else
            play_pipe(manager, &seed);
    }
    return NULL;
}

static void *drive_soaked(void *manager) {
    CHECK_EQ(capstan_loop(manager), 0);
    return NULL;
}

/* Pages of memory in use. */
static long resident(void) {
    long size, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fscanf(file, "%ld %ld", &size, &pages) != 2) pages = 0;
        fclose(file);
    }
    return pages;
}

static void act_for(double seconds, uintptr_t seed) {
    pthread_t actor[ACTORS];
    soak_until = soak_clock() + seconds;
    for (uintptr_t i = 0; i < ACTORS; i++)
        CHECK(pthread_create(&actor[i], NULL, act, (void *)(seed + i)) == 0);
    for (int i = 0; i < ACTORS; i++) pthread_join(actor[i], NULL);
}

static void soak(double seconds) {
    pthread_t driver[2];
    loop[0] = new_manager("epoll");
    loop[1] = new_manager("poll");
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&driver[i], NULL, drive_soaked, loop[i]) == 0);
    act_for(seconds / 10, 1); /* after this time the loops have all memory that they keep */
    long before = resident();
    act_for(0.9 * seconds, 1000);
    long grown = resident() - before;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CHECK(grown * sysconf(_SC_PAGESIZE) < 1 << 20);
#endif
    (void)grown;
    for (int i = 0; i < 2; i++) {
        capstan_shutdown(loop[i]);
        pthread_join(driver[i], NULL);
        CHECK_EQ(statistics(loop[i]).timers, 0);
        CHECK_EQ(statistics(loop[i]).watches, 0);
        CHECK_EQ(capstan_manager_free(loop[i]), 0);
    }
}
