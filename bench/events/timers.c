/* timers.c: the cost of starting and cancelling timers while a million others are live.
 *
 * - timer-insert-cancel cancels the newest timer, like a request that is answered soon.
 * - timer-oldest cancels the oldest timer, like a connection that is replaced.
 * - timer-random cancels a random timer, the worst case for caches.
 * - timer-start-cancel also reads the clock (capstan_timer_start).
 * - timer-expire is a timer that fires.
 *
 * A figure is the ns for one start and one cancel. Deadlines are random within an hour. All three
 * loops know the time of an insertion. libuv and libevent take it from the loop's cache, and
 * Capstan takes it from the caller (capstan_timer_start_at). Names with -libuv and -libevent are
 * figures of these loops.
 *
 *   timers [-r ROUNDS] [-c] [CASE...]       -c: processor time, for a busy machine; CASE: bench.h
 */
#include "wanted.h"

#include <capstan.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

enum { LIVE = 1000000, CHURN = 1000000, HOUR_MS = 3600000 };

static void need(bool done, const char *what) {
    if (done) return;
    fprintf(stderr, "timers: failed: %s\n", what);
    exit(1);
}

static uint64_t seed = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* A loop with room for LIVE + 1 timers, by number. */
struct loop {
    const char *name;
    void (*open)(void);
    void (*start)(int timer, uint64_t delay_ms);
    void (*cancel)(int timer);
    void (*run_until)(long fired);
    void (*close)(void);
};

static long fired;

/* --- Capstan ------------------------------------------------------------------------------- */

static capstan_manager *ours;
static uint64_t our_time;
static capstan_timer our_timer[LIVE + 1];

static void our_expiry(capstan_manager *manager, capstan_timer timer, uint64_t expirations,
                       void *data) {
    (void)manager, (void)timer, (void)data;
    fired += expirations > 0;
}

static void our_open(void) {
    need(capstan_manager_new(&ours, NULL) == 0, "capstan_manager_new");
    our_time = capstan_clock();
}

static void our_insert(int timer, uint64_t delay_ms) {
    capstan_timer_start_at(ours, our_time + delay_ms * 1000000, 0, our_expiry, NULL,
                           &our_timer[timer]);
}

static void our_start(int timer, uint64_t delay_ms) {
    capstan_timer_start(ours, delay_ms * 1000000, 0, our_expiry, NULL, &our_timer[timer]);
}

static void our_cancel(int timer) {
    need(capstan_timer_cancel(ours, our_timer[timer]) == 0, "capstan_timer_cancel");
}

static void our_run(long target) {
    while (fired < target) capstan_step(ours, CAPSTAN_FOREVER, NULL);
}

static void our_close(void) {
    capstan_manager_free(ours);
}

/* --- libuv --------------------------------------------------------------------------------- */

static uv_loop_t uv;
static uv_timer_t *uv_timer;

static void uv_expiry(uv_timer_t *timer) {
    (void)timer;
    fired++;
}

static void uv_open(void) {
    uv_loop_init(&uv);
    uv_timer = calloc(LIVE + 1, sizeof *uv_timer);
    for (int i = 0; i <= LIVE; i++) uv_timer_init(&uv, &uv_timer[i]);
}

static void uv_begin(int timer, uint64_t delay_ms) {
    uv_timer_start(&uv_timer[timer], uv_expiry, delay_ms, 0);
}

static void uv_cancel_timer(int timer) {
    uv_timer_stop(&uv_timer[timer]);
}

static void uv_run_until(long target) {
    while (fired < target) uv_run(&uv, UV_RUN_ONCE);
}

static void close_handle(uv_handle_t *handle, void *data) {
    (void)data;
    uv_close(handle, NULL);
}

static void uv_shut(void) {
    uv_walk(&uv, close_handle, NULL);
    uv_run(&uv, UV_RUN_DEFAULT);
    uv_loop_close(&uv);
    free(uv_timer);
}

/* --- libevent ------------------------------------------------------------------------------ */

static struct event_base *base;
static struct event **ev_timer;

static void ev_expiry(evutil_socket_t fd, short events, void *data) {
    (void)fd, (void)events, (void)data;
    fired++;
}

static void ev_open(void) {
    struct event_config *config = event_config_new();
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    base = event_base_new_with_config(config);
    event_config_free(config);
    ev_timer = calloc(LIVE + 1, sizeof *ev_timer);
    for (int i = 0; i <= LIVE; i++) ev_timer[i] = event_new(base, -1, 0, ev_expiry, NULL);
}

static void ev_start(int timer, uint64_t delay_ms) {
    struct timeval delay = {(time_t)(delay_ms / 1000), (suseconds_t)(delay_ms % 1000 * 1000)};
    event_add(ev_timer[timer], &delay);
}

static void ev_cancel(int timer) {
    event_del(ev_timer[timer]);
}

static void ev_run(long target) {
    while (fired < target) event_base_loop(base, EVLOOP_ONCE);
}

static void ev_close(void) {
    for (int i = 0; i <= LIVE; i++) event_free(ev_timer[i]);
    free(ev_timer);
    event_base_free(base);
}

static const struct loop loops[] = {
    {"", our_open, our_insert, our_cancel, our_run, our_close},
    {"-libuv", uv_open, uv_begin, uv_cancel_timer, uv_run_until, uv_shut},
    {"-libevent", ev_open, ev_start, ev_cancel, ev_run, ev_close},
};

/* --- measurements --------------------------------------------------------------------------- */

static clockid_t meter = CLOCK_MONOTONIC;

static double now_ns(void) {
    struct timespec now;
    clock_gettime(meter, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Returns a late deadline, as no timer may fire during the measurement. */
static uint64_t delay_ms(void) {
    return 600000 + random_bits() % HOUR_MS;
}

static double churn_newest(const struct loop *loop) {
    double before = now_ns();
    for (int i = 0; i < CHURN; i++) {
        loop->start(LIVE, delay_ms());
        loop->cancel(LIVE);
    }
    return (now_ns() - before) / CHURN;
}

static double churn_started(void) {
    double before = now_ns();
    for (int i = 0; i < CHURN; i++) {
        our_start(LIVE, delay_ms());
        our_cancel(LIVE);
    }
    return (now_ns() - before) / CHURN;
}

static double churn_oldest(const struct loop *loop) {
    double before = now_ns();
    for (int i = 0; i < CHURN; i++) { /* LIVE == CHURN, so each timer is cancelled once */
        loop->cancel(i);
        loop->start(i, delay_ms());
    }
    return (now_ns() - before) / CHURN;
}

static double churn_random(const struct loop *loop) {
    double before = now_ns();
    for (int i = 0; i < CHURN; i++) {
        int victim = (int)(random_bits() % LIVE);
        loop->cancel(victim);
        loop->start(victim, delay_ms());
    }
    return (now_ns() - before) / CHURN;
}

/* All timers are due within 100 ms, and these have passed when the loop begins. */
static double expire(const struct loop *loop) {
    for (int i = 0; i < LIVE; i++) loop->cancel(i);
    for (int i = 0; i < LIVE; i++) loop->start(i, random_bits() % 100);
    struct timespec nap = {0, 200000000};
    nanosleep(&nap, NULL);
    fired = 0;
    double before = now_ns();
    loop->run_until(LIVE);
    return (now_ns() - before) / LIVE;
}

static double least(double a, double b) {
    return a < b ? a : b;
}

static char **words;

static bool wanted(const char *what, const char *loop) {
    char name[64];
    snprintf(name, sizeof name, "timer-%s%s", what, loop);
    return case_wanted(words, name);
}

static void print(const char *what, const char *loop, double cost) {
    if (cost < 1e18) printf("timer-%s%s\tns\t%.1f\n", what, loop, cost);
    fflush(stdout);
}

static void measure(const struct loop *loop, int rounds) {
    const char *const what[] = {"insert-cancel", "start-cancel", "oldest", "random", "expire"};
    bool chosen[5], any = false;
    for (int i = 0; i < 5; i++) {
        chosen[i] = wanted(what[i], loop->name) && !(i == 1 && loop != &loops[0]);
        any = any || chosen[i];
    }
    if (!any) return;
    double best[5] = {1e18, 1e18, 1e18, 1e18, 1e18};
    loop->open();
    for (int i = 0; i < LIVE; i++) loop->start(i, delay_ms());
    for (int round = 0; round < rounds; round++) {
        if (chosen[0]) best[0] = least(best[0], churn_newest(loop));
        if (chosen[1]) best[1] = least(best[1], churn_started());
        if (chosen[2]) best[2] = least(best[2], churn_oldest(loop));
        if (chosen[3]) best[3] = least(best[3], churn_random(loop));
    }
    if (chosen[4]) best[4] = expire(loop);
    for (int i = 0; i < 5; i++) print(what[i], loop->name, best[i]);
    loop->close();
}

int main(int argc, char **argv) {
    int rounds = 5;
    for (int option; (option = getopt(argc, argv, "t:r:u:c")) != -1;) {
        if (option == 'r') rounds = atoi(optarg);
        if (option == 'c') meter = CLOCK_PROCESS_CPUTIME_ID;
        if (option == '?') return 2;
    }
    words = argv + optind;
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) measure(&loops[i], rounds);
    return 0;
}
