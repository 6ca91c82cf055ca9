/* Timers of a manager: the time and number of their calls; a name never reaches another timer. */
#include "event_testing.h"

static const uint64_t TICK = 65536;

static void never_early(void) {
    capstan_manager *manager = new_manager(NULL);
    for (int i = 0; i < 20; i++) {
        uint64_t fired = 0, before = capstan_clock(), delay = (uint64_t)i * 300000;
        CHECK_EQ(capstan_timer_start(manager, delay, 0, note_timer, &fired, NULL), 0);
        RUN_UNTIL(manager, fired, 1);
        CHECK(capstan_clock() >= before + delay);
    }
    CHECK_EQ(statistics(manager).timers, 0);
    capstan_manager_free(manager);
}

struct order {
    int next;
    uint64_t last;
};
struct stamped {
    struct order *order;
    uint64_t deadline;
};

static void check_order(capstan_manager *manager, capstan_timer timer, uint64_t expirations,
                        void *data) {
    struct stamped *stamped = data;
    (void)manager, (void)timer;
    CHECK_EQ(expirations, 1);
    CHECK(capstan_clock() >= stamped->deadline);
    CHECK(stamped->deadline + TICK > stamped->order->last); /* in the order of ticks */
    if (stamped->deadline > stamped->order->last) stamped->order->last = stamped->deadline;
    stamped->order->next++;
}

static void many_in_order(void) {
    enum { MANY = 3000 };
    static struct stamped stamped[MANY];
    capstan_manager *manager = new_manager(NULL);
    struct order order = {0};
    uint64_t now = capstan_clock();
    for (int i = 0; i < MANY; i++) {
        stamped[i] = (struct stamped){&order, now + (uint64_t)i * 7919 % MANY * 10000};
        CHECK_EQ(
            capstan_timer_start_at(manager, stamped[i].deadline, 0, check_order, &stamped[i], NULL),
            0);
    }
    CHECK_EQ(statistics(manager).timers, MANY);
    RUN_UNTIL(manager, order.next, MANY);
    capstan_manager_free(manager);
}

/* Two timers: the first fires first, however late both are. */
struct two {
    uint64_t first, second;
};

static void note_second(capstan_manager *manager, capstan_timer timer, uint64_t expirations,
                        void *data) {
    struct two *two = data;
    (void)manager, (void)timer;
    CHECK_EQ(two->first, 1);
    two->second += expirations;
}

static void cancel_and_move(void) {
    capstan_manager *manager = new_manager(NULL);
    uint64_t never = 0;
    struct two two = {0};
    capstan_timer a, b, c;
    CHECK_EQ(capstan_timer_start(manager, 2 * MS, 0, note_timer, &never, &a), 0);
    CHECK_EQ(capstan_timer_start(manager, CAPSTAN_FOREVER, 0, note_timer, &two.first, &b), 0);
    CHECK_EQ(capstan_timer_start(manager, 1 * MS, 0, note_second, &two, &c), 0);
    CHECK_EQ(capstan_timer_cancel(manager, a), 0);
    CHECK_EQ(capstan_timer_cancel(manager, a), ENOENT);
    CHECK_EQ(capstan_timer_reschedule(manager, a, 0), ENOENT);
    uint64_t before = capstan_clock();
    CHECK_EQ(capstan_timer_reschedule(manager, b, 3 * MS), 0);
    CHECK_EQ(capstan_timer_reschedule(manager, c, 6 * MS), 0);
    RUN_UNTIL(manager, two.second, 1);
    CHECK_EQ(two.first, 1);
    CHECK(capstan_clock() >= before + 6 * MS);
    CHECK_EQ(never, 0);
    CHECK_EQ(capstan_timer_reschedule(manager, b, 0), ENOENT);
    CHECK_EQ(capstan_timer_cancel(manager, b), ENOENT);
    CHECK_EQ(capstan_timer_start(manager, 0, 0, NULL, NULL, NULL), EINVAL);
    capstan_manager_free(manager);
}

/* Periods count from the deadline; a late turn merges the missed expirations. */
static void no_drift(void) {
    capstan_manager *manager = new_manager(NULL);
    uint64_t total = 0, period = 500000, start = capstan_clock();
    capstan_timer timer;
    CHECK_EQ(capstan_timer_start_at(manager, start + period, period, note_timer, &total, &timer),
             0);
    RUN_UNTIL(manager, total, 20);
    pause_ms(10);
    CHECK_EQ(step(manager), 1);
    CHECK(total >= 40);
    uint64_t now = capstan_clock();
    CHECK(total <= (now - start) / period);
    RUN_UNTIL(manager, total, 60);
    now = capstan_clock();
    CHECK(total <= (now - start) / period);
    CHECK_EQ(capstan_timer_cancel(manager, timer), 0);
    CHECK_EQ(statistics(manager).timers, 0);
    capstan_manager_free(manager);
}

struct periodic {
    capstan_timer own;
    int calls;
};

static void cancel_own(capstan_manager *manager, capstan_timer timer, uint64_t expirations,
                       void *data) {
    struct periodic *periodic = data;
    (void)expirations;
    CHECK(timer == periodic->own);
    if (++periodic->calls == 3) CHECK_EQ(capstan_timer_cancel(manager, timer), 0);
}

static capstan_timer other_timer;

static void cancel_other(capstan_manager *manager, capstan_timer timer, uint64_t expirations,
                         void *data) {
    (void)timer, (void)expirations;
    if (++*(int *)data == 1) CHECK_EQ(capstan_timer_cancel(manager, other_timer), 0);
}

static void cancelled_by_functions(void) {
    capstan_manager *manager = new_manager(NULL);
    struct periodic periodic = {0};
    int calls = 0;
    CHECK_EQ(capstan_timer_start(manager, 0, 100000, cancel_own, &periodic, &periodic.own), 0);
    RUN_UNTIL(manager, periodic.calls, 3);
    CHECK_EQ(capstan_step(manager, 2 * MS, NULL), 0);
    CHECK_EQ(periodic.calls, 3);
    /* Two timers are due together: the first cancels the second, which is already due. */
    uint64_t deadline = capstan_clock() + MS;
    CHECK_EQ(capstan_timer_start_at(manager, deadline, 0, cancel_other, &calls, NULL), 0);
    CHECK_EQ(capstan_timer_start_at(manager, deadline, 0, cancel_other, &calls, &other_timer), 0);
    pause_ms(3);
    CHECK_EQ(run_all(manager), 1);
    CHECK_EQ(calls, 1);
    capstan_manager_free(manager);
}

/* A timer that starts itself again in the past must not keep all other events out. */
static void restart(capstan_manager *manager, capstan_timer timer, uint64_t expirations,
                    void *data) {
    (void)timer;
    ++*(int *)data;
    if (expirations > 0) CHECK_EQ(capstan_timer_start_at(manager, 0, 0, restart, data, NULL), 0);
}

static void always_due(void) {
    capstan_manager *manager = new_manager(NULL);
    int calls = 0, ends[2];
    struct seen seen = {0};
    make_pipe(ends);
    put(ends[1], "x");
    CHECK_EQ(capstan_timer_start_at(manager, 0, 0, restart, &calls, NULL), 0);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &seen, NULL), 0);
    for (int i = 0; i < 10; i++) step(manager);
    CHECK(calls >= 10);
    CHECK_EQ(seen.calls, 10);
    close_pipe(ends);
    capstan_manager_free(manager);
}

/* Freeing tells each pending timer once, whatever its deadline. */
static void told_at_the_end(void) {
    capstan_manager *manager = new_manager(NULL);
    int told = 0;
    for (int i = 0; i < 64; i++)
        CHECK_EQ(capstan_timer_start_at(manager, UINT64_MAX >> i, i % 2, restart, &told, NULL), 0);
    capstan_manager_free(manager);
    CHECK_EQ(told, 64);
}

/* Only one timer ever has a name, although its memory is used again. */
static void names(void) {
    capstan_manager *manager = new_manager(NULL);
    capstan_timer old, timer;
    uint64_t fired = 0;
    CHECK_EQ(capstan_timer_start(manager, MS, 0, note_timer, &fired, &old), 0);
    CHECK_EQ(capstan_timer_cancel(manager, old), 0);
    for (int i = 0; i < 1000; i++) {
        CHECK_EQ(capstan_timer_start(manager, CAPSTAN_FOREVER, 0, note_timer, &fired, &timer), 0);
        CHECK(timer != old && timer != 0);
        CHECK_EQ(capstan_timer_cancel(manager, old), ENOENT);
        CHECK_EQ(capstan_timer_cancel(manager, timer), 0);
    }
    CHECK_EQ(capstan_timer_cancel(manager, 0), ENOENT);
    CHECK_EQ(capstan_timer_cancel(manager, UINT64_MAX), ENOENT);
    capstan_manager_free(manager);
}

/* A million timers at once: all are started, a third is cancelled, a third is moved, and all are
 * accounted for. */
static void million(void) {
    enum { MILLION = 1000000 };
    capstan_manager *manager = new_manager(NULL);
    capstan_timer *timer = malloc(MILLION * sizeof *timer);
    uint64_t fired = 0, now = capstan_clock();
    for (uint64_t i = 0; i < MILLION; i++)
        CHECK_EQ(capstan_timer_start_at(manager, now + i * 48271 % 2147483647, 0, note_timer,
                                        &fired, &timer[i]),
                 0);
    CHECK_EQ(statistics(manager).timers, MILLION);
    uint64_t cancelled = 0;
    for (int i = 0; i < MILLION; i += 3) {
        cancelled += capstan_timer_cancel(manager, timer[i]) == 0;
        if (i + 1 < MILLION)
            CHECK_EQ(capstan_timer_reschedule(manager, timer[i + 1], (uint64_t)i * 500), 0);
    }
    CHECK_EQ(cancelled, (MILLION + 2) / 3);
    RUN_UNTIL(manager, fired, MILLION - cancelled);
    CHECK_EQ(capstan_step(manager, MS, NULL), 0);
    CHECK_EQ(fired, MILLION - cancelled);
    CHECK_EQ(statistics(manager).timers, 0);
    free(timer);
    capstan_manager_free(manager);
}

int main(void) {
    test_limit(60);
    never_early();
    many_in_order();
    cancel_and_move();
    no_drift();
    cancelled_by_functions();
    always_due();
    told_at_the_end();
    names();
    million();
    return 0;
}
