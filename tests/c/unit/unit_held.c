/* core/wait/turn.h: a master that announces a region and holds one of GHC's Capabilities.
 *
 * test: flags -Wl,--wrap=cst_host_is_haskell,--wrap=cst_host_holds_capability
 *
 * test: flags -Wl,--wrap=cst_host_note_sleep,--wrap=cst_futex_wait_for
 */
#include "unit.h"

#include "core/host/busy.h"
#include "core/settings/config.h"
#include "core/wait/announce.h"
#include "core/wait/policy.h"
#include "core/wait/turn.h"
#include "platform/platform.h"

#include <string.h>

enum { PROCESSORS = 2, PROMPT = 0, LATE = 1, QUIET = 2 };

static struct cst_thread first, second;
static const char code[8]; /* places in the code */

bool __wrap_cst_host_is_haskell(void);
bool __wrap_cst_host_is_haskell(void) {
    return true;
}

static bool holds = true;

bool __wrap_cst_host_holds_capability(void);
bool __wrap_cst_host_holds_capability(void) {
    return holds;
}

/* The second master's waits, each of which takes its whole time. */
static struct {
    int count;
    int ends_in; /* the first master's region ends during this one */
    uint64_t longest, all;
    bool asleep; /* said to GHC's side */
    int changes;
} waits;

void __wrap_cst_host_note_sleep(bool begins);
void __wrap_cst_host_note_sleep(bool begins) {
    UNIT_EQUAL(waits.asleep, !begins);
    waits.asleep = begins;
    waits.changes++;
}

static void pass_time(uint64_t ns) {
    uint64_t end = cst_clock_ns() + ns;
    while (cst_clock_ns() < end) continue;
}

bool __wrap_cst_futex_wait_for(_Atomic uint32_t *word, uint32_t value, uint64_t ns);
bool __wrap_cst_futex_wait_for(_Atomic uint32_t *word, uint32_t value, uint64_t ns) {
    UNIT_EQUAL(cst_load_relaxed(word), value);
    UNIT_CHECK(waits.asleep);
    if (ns > waits.longest) waits.longest = ns;
    waits.all += ns;
    if (++waits.count == waits.ends_in) cst_turn_return(PROCESSORS);
    pass_time(ns);
    return false;
}

static void asks(struct cst_thread *thread, int place) {
    memset(&thread->asking, 0, sizeof thread->asking);
    (void)cst_announce_asks(&thread->asking, &code[place]);
}

static void ask_and_open(int place, uint64_t ns) {
    asks(&second, place);
    pass_time(ns);
    cst_announce_opens(&second.asking);
}

static bool is_prompt(int place) {
    asks(&second, place);
    return cst_announce_is_prompt(&second.asking);
}

static void begin(struct cst_thread *thread) {
    const struct cst_turn turn = {.threads = PROCESSORS};
    struct cst_turn_from from;
    UNIT_EQUAL(cst_turn_take(thread, &turn, &from), PROCESSORS);
}

/* The second master asks at the place, and gives its patience. */
static void announce(int place) {
    struct cst_turn_from from;
    asks(&second, place);
    waits.count = waits.changes = 0;
    waits.longest = waits.all = 0;
    cst_turn_announce(&second, PROCESSORS, NULL, &from);
    UNIT_CHECK(!waits.asleep);
    UNIT_EQUAL(cst_load_relaxed(&cst_turn_waiting), 0);
}

/* The thread of the test may be late itself, so it tries again. */
static void the_time_to_the_region_is_learned(void) {
    UNIT_CHECK(!is_prompt(PROMPT));
    while (!is_prompt(PROMPT)) ask_and_open(PROMPT, 0);
    for (int i = 0; i < CST_ANNOUNCE_PROMPT_MOST; i++) ask_and_open(LATE, CST_ANNOUNCE_PROMPT_NS);
    UNIT_CHECK(!is_prompt(LATE));
}

/* If the region is one of a safe call, Haskell code has run between the two. */
static void regions_of_safe_calls_are_not_timed(void) {
    holds = false;
    for (int i = 0; i < 2 * CST_ANNOUNCE_PROMPT_MOST; i++) ask_and_open(QUIET, 0);
    holds = true;
    UNIT_CHECK(!is_prompt(QUIET));
}

/* The time that the master has waited for another one's region tells nothing. */
static void regions_beside_others_are_not_timed(void) {
    begin(&first);
    for (int i = 0; i < 2 * CST_ANNOUNCE_PROMPT_MOST; i++) ask_and_open(QUIET, 0);
    cst_turn_return(PROCESSORS);
    UNIT_CHECK(!is_prompt(QUIET));
}

static void late_regions_end_the_trust(void) {
    while (!is_prompt(QUIET)) ask_and_open(QUIET, 0);
    for (int i = 0; i < CST_ANNOUNCE_PROMPT_MOST; i++) ask_and_open(QUIET, CST_ANNOUNCE_PROMPT_NS);
    UNIT_CHECK(!is_prompt(QUIET));
}

/* A collection may wait for the master, so it looks soon. Its Capability counts as idle. */
static void it_waits_for_the_other_region(void) {
    begin(&first);
    waits.ends_in = 3;
    announce(PROMPT);
    UNIT_CHECK(second.asking.era != 0);
    UNIT_EQUAL(waits.count, 3);
    UNIT_EQUAL(waits.changes, 2);
    UNIT_CHECK(waits.longest <= CST_TURN_SOON_NS);
    begin(&second);
    cst_turn_return(PROCESSORS);
}

/* A question of Haskell's own may be followed by a collection. */
static void it_does_not_wait_if_regions_come_late(void) {
    begin(&first);
    waits.ends_in = 1;
    announce(LATE);
    UNIT_EQUAL(waits.count, 0);
    cst_turn_return(PROCESSORS);
}

/* The announced region may wait for a collection, and that for this master. */
static void it_waits_briefly_for_a_region_that_does_not_come(void) {
    struct cst_turn_from from;
    asks(&first, PROMPT);
    cst_turn_announce(&first, PROCESSORS, NULL, &from);
    UNIT_CHECK(first.asking.era != 0);
    waits.ends_in = 0;
    announce(PROMPT);
    UNIT_CHECK(waits.count > 0);
    UNIT_CHECK(waits.all < CST_ANNOUNCE_FIRST_NS / 2);
    UNIT_CHECK(second.asking.era != 0);
    begin(&second);
    begin(&first);
    cst_turn_return(2 * PROCESSORS);
}

static void its_patience_is_short(void) {
    begin(&first);
    waits.ends_in = 0;
    announce(PROMPT);
    UNIT_CHECK(second.asking.vain);
    UNIT_CHECK(waits.all < CST_ANNOUNCE_PATIENCE_NS / 2);
    cst_turn_return(PROCESSORS);
}

int main(void) {
    unit_limit(60);
    cst_config.available = PROCESSORS;
    UNIT_RUN(the_time_to_the_region_is_learned);
    UNIT_RUN(regions_of_safe_calls_are_not_timed);
    UNIT_RUN(regions_beside_others_are_not_timed);
    UNIT_RUN(late_regions_end_the_trust);
    UNIT_RUN(it_waits_for_the_other_region);
    UNIT_RUN(it_does_not_wait_if_regions_come_late);
    UNIT_RUN(it_waits_briefly_for_a_region_that_does_not_come);
    UNIT_RUN(its_patience_is_short);
    return unit_result();
}
