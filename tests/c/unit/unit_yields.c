/* core/wait/yields.h: a member that loses a slice with each yield sleeps, and tries again ever more
 * seldom. A member that gets its share in between, or loses a slice now and then, goes on yielding.
 */
#include "unit.h"

#include "core/wait/policy.h"
#include "core/wait/yields.h"

enum { SLICE_NS = 4000000, SHORT_NS = 2000, STEP_NS = 1000000 };

static uint64_t now = 1000000000;

static bool yields_for(struct cst_yields *yields, uint64_t ns) {
    now += ns;
    return cst_yields_took(yields, now - ns, now);
}

/* Returns the number of yields, each of which costs a slice, until the member must sleep. */
static int slices_until_sleep(struct cst_yields *yields) {
    int n = 1;
    while (!yields_for(yields, SLICE_NS)) n++;
    return n;
}

static uint64_t sleep_ms(struct cst_yields *yields) {
    uint64_t ms = 0;
    for (; cst_yields_cost(yields, now); ms++) now += STEP_NS;
    return ms;
}

static void short_ones_cost_nothing(void) {
    struct cst_yields yields = {0};
    for (int i = 0; i < 1000; i++) {
        UNIT_CHECK(!cst_yields_cost(&yields, now));
        UNIT_CHECK(!yields_for(&yields, SHORT_NS));
    }
}

static void a_slice_now_and_then_is_no_reason(void) {
    struct cst_yields yields = {0};
    for (int i = 0; i < 100; i++) {
        UNIT_CHECK(!yields_for(&yields, SLICE_NS));
        UNIT_CHECK(!cst_yields_cost(&yields, now));
        now += SLICE_NS;
    }
}

static void tries_ever_more_seldom(void) {
    struct cst_yields yields = {0};
    UNIT_EQUAL(slices_until_sleep(&yields), CST_YIELD_LONG_TIMES);
    UNIT_EQUAL(sleep_ms(&yields), 8);
    for (uint64_t ms = 16; ms <= 256; ms *= 2) {
        UNIT_EQUAL(slices_until_sleep(&yields), 1);
        UNIT_EQUAL(sleep_ms(&yields), ms);
    }
    UNIT_EQUAL(slices_until_sleep(&yields), 1);
    UNIT_EQUAL(sleep_ms(&yields), 256);
    for (int i = 0; i < 1000; i++) UNIT_CHECK(!yields_for(&yields, SHORT_NS));
    now += SLICE_NS;
    UNIT_EQUAL(slices_until_sleep(&yields), CST_YIELD_LONG_TIMES);
    UNIT_EQUAL(sleep_ms(&yields), 8);
}

static void one_tries_for_all(void) {
    struct cst_yields mine = {0}, other = {0};
    UNIT_EQUAL(slices_until_sleep(&mine), CST_YIELD_LONG_TIMES);
    UNIT_EQUAL(slices_until_sleep(&other), CST_YIELD_LONG_TIMES);
    /* The pause of `other` was over long ago, but `mine` has just tried. */
    UNIT_EQUAL(sleep_ms(&mine), 8);
    UNIT_EQUAL(slices_until_sleep(&mine), 1);
    UNIT_CHECK(cst_yields_cost(&other, now));
    now += 9 * STEP_NS;
    UNIT_CHECK(!cst_yields_cost(&other, now));
}

int main(void) {
    UNIT_RUN(short_ones_cost_nothing);
    UNIT_RUN(a_slice_now_and_then_is_no_reason);
    UNIT_RUN(tries_ever_more_seldom);
    UNIT_RUN(one_tries_for_all);
    return unit_result();
}
