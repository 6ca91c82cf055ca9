/* The timing wheel is compared with a list that is searched from end to end.
 *
 * Random timers are inserted, cancelled and moved, and the clock advances by random steps, some of
 * them years. A timer is due if its deadline, rounded up to a tick, is not after the present. After
 * each advance the due timers have fired: none early, none twice, none lost, in the order of
 * ticks. */
#include "testing.h"

#include "event/wheel.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { TIMERS = 300, ROUNDS = 20000 };

static const uint64_t TICK = UINT64_C(1) << CST_WHEEL_TICK_BITS;

static struct cst_wheel wheel;

struct model {
    struct cst_wheel_node node;
    bool pending;
    uint64_t deadline;
};

static uint64_t seed = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* A span of any size: every level of the wheel gets its share. */
static uint64_t random_span(void) {
    return random_bits() >> (random_bits() % 64);
}

static uint64_t plus(uint64_t a, uint64_t b) {
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

static uint64_t first_tick(uint64_t deadline) {
    uint64_t tick = deadline / TICK + (deadline % TICK != 0);
    return tick > UINT64_MAX / TICK ? UINT64_MAX / TICK : tick;
}

static struct model *model_of(struct cst_wheel_node *node) {
    return (struct model *)((char *)node - offsetof(struct model, node));
}

/* cst_wheel_next may be early, but never later than the earliest timer. */
static void check_next(const struct model *timers, uint64_t now) {
    uint64_t next = cst_wheel_next(&wheel), earliest = UINT64_MAX;
    bool any = false;
    for (int i = 0; i < TIMERS; i++) {
        if (!timers[i].pending) continue;
        any = true;
        uint64_t tick = first_tick(timers[i].deadline);
        if (tick < earliest) earliest = tick;
    }
    if (!any) {
        CHECK(next == CST_WHEEL_NEVER);
    } else if (earliest * TICK > now) {
        CHECK(next <= earliest * TICK);
    }
}

static void advance(struct model *timers, uint64_t now) {
    while (cst_wheel_advance(&wheel, now, 1 + random_bits() % 8)) continue;
    for (struct cst_wheel_node *node; (node = cst_wheel_take(&wheel)) != NULL;) {
        struct model *timer = model_of(node);
        CHECK(timer->pending);
        CHECK(!cst_wheel_holds(node));
        CHECK(first_tick(timer->deadline) <= now / TICK);
        timer->pending = false;
    }
    for (int i = 0; i < TIMERS; i++)
        if (timers[i].pending) CHECK(first_tick(timers[i].deadline) > now / TICK);
}

static void change(struct model *timer, uint64_t now) {
    uint64_t past = random_span();
    uint64_t deadline =
        random_bits() % 8 ? plus(now, random_span()) : now - (past > now ? 0 : past);
    if (!timer->pending) {
        cst_wheel_insert(&wheel, &timer->node, deadline);
        timer->pending = true;
    } else if (random_bits() % 2) {
        cst_wheel_cancel(&wheel, &timer->node);
        timer->pending = false;
        CHECK(!cst_wheel_holds(&timer->node));
    } else {
        cst_wheel_reschedule(&wheel, &timer->node, deadline);
    }
    timer->deadline = deadline;
}

/* One wheel after the other; each begins at a random time. */
static void random_lives(void) {
    static struct model timers[TIMERS];
    for (int life = 0; life < 20; life++) {
        memset(timers, 0, sizeof timers);
        uint64_t now = random_span();
        cst_wheel_init(&wheel, now);
        for (int round = 0; round < ROUNDS / 20; round++) {
            for (int i = 0; i < 10; i++) change(&timers[random_bits() % TIMERS], now);
            if (round % 16 == 0) cst_wheel_validate(&wheel);
            check_next(timers, now);
            now = plus(now, random_span() >> 8);
            advance(timers, now);
            size_t pending = 0;
            for (int i = 0; i < TIMERS; i++) pending += timers[i].pending;
            CHECK_EQ(wheel.count, pending);
        }
        advance(timers, UINT64_MAX);
        CHECK_EQ(wheel.count, 0);
    }
}

/* Timers may be cancelled and moved while a slot is only partly drained because the budget ran
 * out. */
static void change_while_draining(void) {
    static struct model timers[TIMERS];
    for (int life = 0; life < 200; life++) {
        memset(timers, 0, sizeof timers);
        cst_wheel_init(&wheel, 0);
        uint64_t now = 0, base = random_span();
        for (int i = 0; i < TIMERS / 10; i++) { /* crowded into few slots */
            timers[i].deadline = plus(base, random_bits() % (128 * TICK));
            timers[i].pending = true;
            cst_wheel_insert(&wheel, &timers[i].node, timers[i].deadline);
        }
        while (wheel.count > 0) {
            now = plus(now, random_span());
            while (cst_wheel_advance(&wheel, now, 1 + random_bits() % 4)) {
                CHECK_EQ(cst_wheel_next(&wheel), 0);
                change(&timers[random_bits() % TIMERS], now);
                cst_wheel_validate(&wheel);
            }
            advance(timers, now);
        }
    }
}

/* Timers fire in the order of ticks, also if one advance covers many ticks. */
static void fires_in_order(void) {
    static struct model timers[TIMERS];
    for (int life = 0; life < 200; life++) {
        memset(timers, 0, sizeof timers);
        uint64_t now = random_span();
        cst_wheel_init(&wheel, now);
        for (int i = 0; i < TIMERS; i++) {
            timers[i].deadline = plus(now, random_span() >> 1);
            cst_wheel_insert(&wheel, &timers[i].node, timers[i].deadline);
        }
        CHECK(!cst_wheel_advance(&wheel, UINT64_MAX, SIZE_MAX));
        uint64_t last = 0;
        for (int i = 0; i < TIMERS; i++) {
            struct cst_wheel_node *node = cst_wheel_take(&wheel);
            CHECK(node != NULL);
            uint64_t tick = first_tick(model_of(node)->deadline);
            CHECK(tick >= last);
            last = tick;
        }
        CHECK(cst_wheel_take(&wheel) == NULL);
    }
}

/* A clock that is set back makes no timer early, not even a timer that starts then. A clock that
 * leaps ahead fires all timers that it passed. */
static void clock_jumps(void) {
    static struct model timers[6];
    const uint64_t second = 1000000000, day = 86400 * second;
    memset(timers, 0, sizeof timers);
    cst_wheel_init(&wheel, day);
    uint64_t deadlines[] = {day + second, day + 2 * second, 3 * day, 400 * day};
    for (int i = 0; i < 4; i++) cst_wheel_insert(&wheel, &timers[i].node, deadlines[i]);
    CHECK(!cst_wheel_advance(&wheel, second, SIZE_MAX)); /* back by a day */
    CHECK(cst_wheel_take(&wheel) == NULL);
    CHECK_EQ(wheel.tick, second / TICK);
    cst_wheel_validate(&wheel);
    cst_wheel_insert(&wheel, &timers[4].node, 3 * second);
    cst_wheel_insert(&wheel, &timers[5].node, 4 * second);
    CHECK(!cst_wheel_advance(&wheel, 2 * second, SIZE_MAX));
    CHECK(cst_wheel_take(&wheel) == NULL);
    CHECK(!cst_wheel_advance(&wheel, 3 * second + TICK, SIZE_MAX));
    CHECK(!cst_wheel_advance(&wheel, 2 * second, SIZE_MAX)); /* back while a timer is due */
    CHECK(cst_wheel_take(&wheel) == NULL);
    cst_wheel_validate(&wheel);
    CHECK(!cst_wheel_advance(&wheel, 4 * second + TICK, SIZE_MAX));
    CHECK(cst_wheel_take(&wheel) == &timers[4].node);
    CHECK(cst_wheel_take(&wheel) == &timers[5].node);
    CHECK(!cst_wheel_advance(&wheel, day + second + TICK, SIZE_MAX));
    CHECK(cst_wheel_take(&wheel) == &timers[0].node);
    CHECK(cst_wheel_take(&wheel) == NULL);
    CHECK(!cst_wheel_advance(&wheel, 300 * day, SIZE_MAX)); /* ahead by most of a year */
    CHECK(cst_wheel_take(&wheel) == &timers[1].node);
    CHECK(cst_wheel_take(&wheel) == &timers[2].node);
    CHECK(cst_wheel_take(&wheel) == NULL);
    CHECK_EQ(wheel.count, 1);
    CHECK(cst_wheel_next(&wheel) >= 400 * day);
    CHECK(cst_wheel_next(&wheel) < 400 * day + TICK);
}

/* A timer fires less than a tick late if the wheel advances at the time that cst_wheel_next names.
 * No advance at that time finds nothing to fire. */
static void lateness(void) {
    struct model timer = {0};
    uint64_t now = 12345678;
    cst_wheel_init(&wheel, now);
    for (int i = 0; i < 10000; i++) {
        uint64_t deadline = plus(now, random_span() >> 2);
        cst_wheel_insert(&wheel, &timer.node, deadline);
        uint64_t next = cst_wheel_next(&wheel);
        CHECK(next >= deadline || deadline <= now);
        CHECK(next < plus(deadline, TICK));
        if (next > now) now = next;
        CHECK(!cst_wheel_advance(&wheel, now, SIZE_MAX));
        CHECK(cst_wheel_take(&wheel) == &timer.node);
        if (now > UINT64_MAX / 2) cst_wheel_init(&wheel, now = 0);
    }
}

int main(void) {
    test_limit(60);
    random_lives();
    change_while_draining();
    fires_in_order();
    clock_jumps();
    lateness();
    return 0;
}
