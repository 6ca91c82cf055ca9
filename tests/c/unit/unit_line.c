/* core/wait/turn.h: a master whose region does not fit waits for its turn, and looks by itself.
 *
 * test: flags -Wl,--wrap=cst_futex_wait_for
 */
#include "unit.h"

#include "core/host/busy.h"
#include "core/settings/config.h"
#include "core/wait/policy.h"
#include "core/wait/turn.h"
#include "platform/platform.h"

enum { PROCESSORS = 2 };

static struct cst_thread first, second;

static uint32_t begin(struct cst_thread *thread) {
    const struct cst_turn turn = {.threads = PROCESSORS, .may_wait = true};
    struct cst_turn_from from;
    return cst_turn_take(thread, &turn, &from);
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

/* Ends a number of regions that each have lasted for a millisecond. The master has used that
 * processor time, and has slept or not. */
static void end_regions(int count, uint64_t used, bool slept) {
    for (int i = 0; i < count; i++) {
        struct cst_thread_usage usage = cst_thread_usage();
        first.turn.since = cst_clock_ns() - 1000000;
        first.turn.used = usage.cpu_ns - used;
        first.turn.sleeps = usage.voluntary_switches - slept;
        cst_turn_judge(&first);
        UNIT_EQUAL(first.turn.since, 0);
    }
}

/* The number of waits of a master whose region does not fit. */
static int waits_before_it_begins(void) {
    waits.count = 0;
    waits.ends_in = 3;
    UNIT_EQUAL(begin(&first), PROCESSORS);
    UNIT_EQUAL(begin(&second), PROCESSORS);
    if (waits.count < 3) cst_turn_return(PROCESSORS);
    cst_turn_return(PROCESSORS);
    UNIT_EQUAL(cst_busy_threads(), 0);
    return waits.count;
}

/* Their masters have been busy, or have lost their processors. One idle region proves nothing. */
static void busy_regions_take_turns(void) {
    end_regions(2 * CST_TURN_IDLE_TIMES, 1000000, true);
    end_regions(2 * CST_TURN_IDLE_TIMES, 0, false);
    UNIT_EQUAL(waits_before_it_begins(), 3);
    for (int i = 0; i < CST_TURN_IDLE_TIMES; i++) {
        end_regions(CST_TURN_IDLE_TIMES / 2, 0, true);
        end_regions(2, 1000000, true);
    }
    UNIT_EQUAL(waits_before_it_begins(), 3);
}

static void idle_regions_end_the_turns(void) {
    end_regions(CST_TURN_IDLE_TIMES, 0, true);
    UNIT_EQUAL(waits_before_it_begins(), 0);
}

int main(void) {
    unit_limit(20);
    cst_config.available = PROCESSORS;
    UNIT_RUN(a_waiter_looks_by_itself);
    UNIT_RUN(it_looks_again);
    UNIT_RUN(busy_regions_take_turns);
    UNIT_RUN(idle_regions_end_the_turns);
    return unit_result();
}
