/* core/wait/turn.h: a master whose region does not fit waits for its turn, and looks by itself.
 *
 * test: flags -Wl,--wrap=cst_futex_wait_for,--wrap=cst_clock_ns,--wrap=cst_host_haskell_going_on
 */
#include "unit.h"

#include "core/host/busy.h"
#include "core/settings/config.h"
#include "core/wait/policy.h"
#include "core/wait/rival.h"
#include "core/wait/turn.h"
#include "platform/platform.h"

enum {
    PROCESSORS = 2,
    LASTS = 300000, /* a region, in nanoseconds; its steps are close, or far apart */
    CLOSE = 2 * LASTS / CST_TURN_STEP_NS,
    FAR = LASTS / CST_TURN_STEP_NS / 2,
    MANY = 1000
};

static struct cst_thread first, second;

static uint32_t begin(struct cst_thread *thread) {
    const struct cst_turn turn = {.threads = PROCESSORS, .may_wait = true};
    struct cst_turn_from from;
    return cst_turn_take(thread, &turn, &from);
}

/* Time passes while a master sleeps, and where the test says so. */
static uint64_t now = 1000000000;

uint64_t __wrap_cst_clock_ns(void);
uint64_t __wrap_cst_clock_ns(void) {
    return now;
}

static uint32_t computing; /* Haskell threads */

uint32_t __wrap_cst_host_haskell_going_on(void);
uint32_t __wrap_cst_host_haskell_going_on(void) {
    return computing;
}

/* The waits of the second master. The first master's region ends during the wait with that number,
 * and wakes nobody. */
static struct {
    int count, ends_in;
    uint64_t length; /* all of them */
} waits;

bool __wrap_cst_futex_wait_for(_Atomic uint32_t *word, uint32_t value, uint64_t ns);
bool __wrap_cst_futex_wait_for(_Atomic uint32_t *word, uint32_t value, uint64_t ns) {
    UNIT_EQUAL(cst_load_relaxed(word), value);
    UNIT_EQUAL(cst_load_relaxed(&cst_turn_waiting), 1);
    waits.length += ns;
    now += ns;
    if (++waits.count == waits.ends_in) cst_turn_return(PROCESSORS);
    return false;
}

static void waits_for_a_region_that_ends_in(int wait) {
    waits.count = 0;
    waits.length = 0;
    waits.ends_in = wait;
    UNIT_EQUAL(begin(&first), PROCESSORS);
    UNIT_EQUAL(begin(&second), PROCESSORS);
    UNIT_EQUAL(cst_busy_threads(), PROCESSORS);
    UNIT_EQUAL(cst_load_relaxed(&cst_turn_waiting), 0);
    cst_turn_return(PROCESSORS);
    UNIT_EQUAL(cst_busy_threads(), 0);
}

/* No worker may be awake that would pass on the turn. */
static void a_waiter_looks_by_itself(void) {
    waits_for_a_region_that_ends_in(1);
    UNIT_EQUAL(waits.count, 1);
    UNIT_CHECK(waits.length <= CST_TURN_SLICE_NS);
}

static void it_looks_again(void) {
    waits_for_a_region_that_ends_in(7);
    UNIT_EQUAL(waits.count, 7);
    UNIT_CHECK(waits.length <= CST_TURN_PATIENCE_NS);
}

/* The second master's region, which lasts for LASTS and has so many steps. Returns the number of
 * waits before it. The first master's region ends in the first of them. */
static int waits_before(uint32_t steps) {
    waits.count = 0;
    waits.ends_in = 1;
    UNIT_EQUAL(begin(&first), PROCESSORS);
    UNIT_EQUAL(first.turn_begun, 0);
    UNIT_EQUAL(begin(&second), PROCESSORS);
    if (waits.count == 0) cst_turn_return(PROCESSORS);
    UNIT_EQUAL(second.turn_begun, waits.count > 0 ? now : 0);
    now += LASTS;
    if (second.turn_begun != 0) cst_turn_note_region(&second, steps);
    UNIT_EQUAL(second.turn_begun, 0);
    cst_turn_return(PROCESSORS);
    UNIT_EQUAL(cst_busy_threads(), 0);
    return waits.count;
}

/* The number of turns until the masters no longer wait, at most `most`. */
static int turns_until_rest(uint32_t steps, int most) {
    int turns = 0;
    while (turns < most && waits_before(steps) > 0) turns++;
    return turns;
}

static void close_steps_take_turns(void) {
    UNIT_EQUAL(turns_until_rest(CLOSE, MANY), MANY);
}

/* One region with its steps far apart proves nothing, nor does a slow one. */
static void few_distant_steps_take_turns(void) {
    for (int i = 0; i < MANY; i++) {
        UNIT_EQUAL(waits_before(i % 4 == 0 ? FAR : CLOSE), 1);
        if (i % 50 == 0) now += 1000000000;
    }
}

static void distant_steps_end_the_turns(void) {
    int turns = turns_until_rest(FAR, MANY);
    UNIT_CHECK(turns > 2 && turns < 8 * CST_TURN_PACE_OF);
    UNIT_EQUAL(waits_before(CLOSE), 0);
    now += CST_TURN_FIRST_NS;
    UNIT_EQUAL(waits_before(FAR), 1);
    UNIT_EQUAL(turns_until_rest(CLOSE, MANY), MANY);
}

static void regions_that_sleep_end_them_soon(void) {
    UNIT_CHECK(turns_until_rest(1, MANY) <= CST_TURN_PACE_OF);
    now += CST_TURN_LONGEST_NS;
    UNIT_EQUAL(turns_until_rest(CLOSE, MANY), MANY);
}

/* The kernel may take a region's processor for some slices. */
static void one_late_region_proves_nothing(void) {
    for (int i = 0; i < MANY; i++) {
        if (i % 50 == 0) {
            second.turn_begun = now - 100 * CST_TURN_SLICE_NS;
            cst_turn_note_region(&second, 1);
        }
        UNIT_EQUAL(waits_before(CLOSE), 1);
    }
}

/* Neither the time between regions nor that of waits counts. */
static void pauses_do_not_count(void) {
    for (int i = 0; i < MANY; i++) {
        UNIT_EQUAL(waits_before(CLOSE), 1);
        now += 10 * CST_TURN_SLICE_NS;
    }
}

/* Looks that find a Haskell thread that goes on. */
static void look(int times, uint64_t ns) {
    for (int i = 0; i < times; i++) {
        now += ns;
        (void)cst_rival_computes(now);
    }
}

static void masters_go_ahead_beside_haskell_code(void) {
    computing = PROCESSORS;
    look(2 * CST_RIVAL_LOOKS, CST_RIVAL_COMPUTES_NS);
    UNIT_EQUAL(waits_before(CLOSE), 0);
    computing = 0;
    UNIT_EQUAL(waits_before(CLOSE), 1);
}

/* A processor is left, so turns gain as much as without that code. */
static void masters_take_turns_beside_one_thread(void) {
    computing = PROCESSORS - 1;
    look(2 * CST_RIVAL_LOOKS, CST_RIVAL_COMPUTES_NS);
    UNIT_EQUAL(waits_before(CLOSE), 1);
    computing = 0;
}

/* Neither many looks at once nor one after a long time are enough. */
static void code_that_ends_soon_is_no_rival(void) {
    look(1, 1000);
    computing = PROCESSORS;
    look(10 * CST_RIVAL_LOOKS, CST_RIVAL_COMPUTES_NS / (20 * CST_RIVAL_LOOKS));
    UNIT_EQUAL(waits_before(CLOSE), 1);
    computing = 0;
    look(1, 1000);
    computing = PROCESSORS;
    look(1, 100 * CST_RIVAL_COMPUTES_NS);
    UNIT_EQUAL(waits_before(CLOSE), 1);
    computing = 0;
    UNIT_EQUAL(waits_before(CLOSE), 1);
}

static void a_waiter_leaves_the_line_beside_it(void) {
    computing = PROCESSORS;
    look(CST_RIVAL_LOOKS / 2, 1000);
    waits.count = 0;
    waits.ends_in = MANY;
    UNIT_EQUAL(begin(&first), PROCESSORS);
    UNIT_EQUAL(begin(&second), PROCESSORS);
    UNIT_CHECK(waits.count > 0 && waits.count <= CST_RIVAL_LOOKS);
    cst_turn_return(2 * PROCESSORS);
    computing = 0;
}

int main(void) {
    unit_limit(20);
    cst_config.available = PROCESSORS;
    UNIT_RUN(a_waiter_looks_by_itself);
    UNIT_RUN(it_looks_again);
    UNIT_RUN(close_steps_take_turns);
    UNIT_RUN(few_distant_steps_take_turns);
    UNIT_RUN(distant_steps_end_the_turns);
    UNIT_RUN(regions_that_sleep_end_them_soon);
    UNIT_RUN(one_late_region_proves_nothing);
    UNIT_RUN(pauses_do_not_count);
    UNIT_RUN(masters_go_ahead_beside_haskell_code);
    UNIT_RUN(masters_take_turns_beside_one_thread);
    UNIT_RUN(code_that_ends_soon_is_no_rival);
    UNIT_RUN(a_waiter_leaves_the_line_beside_it);
    return unit_result();
}
