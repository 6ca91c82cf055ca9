/* core/wait/rival.h: a slice that may have gone to one of the runtime's own threads tells nothing
 * of rivals, and neither does one beside Haskell code of the process. The end of a spin tells too.
 * core/host/busy.h: workers count as awake until they sleep in their docks or end.
 * test: flags -fopenmp -Wl,--wrap=cst_host_haskell_runs
 */
#include "unit.h"

#include "core/host/busy.h"
#include "core/settings/config.h"
#include "core/wait/policy.h"
#include "core/wait/rival.h"
#include "platform/platform.h"

#include <omp.h>
#include <time.h>

enum { LOST_NS = 3000000 };

/* Has the loss of a slice been taken for a rival's? */
static bool tells(struct cst_rival_watch *watch) {
    cst_store_relaxed(&cst_rival_seen, false);
    cst_rival_took(watch, LOST_NS, cst_clock_ns());
    return cst_load_relaxed(&cst_rival_seen);
}

static void set(uint32_t busy, uint32_t awake) {
    cst_store_relaxed(&cst_busy, busy);
    cst_store_relaxed(&cst_awake, awake);
}

static void a_single_team_sees_rivals(void) {
    struct cst_rival_watch watch = {0};
    set(cst_config.available, cst_config.available - 1);
    UNIT_CHECK(tells(&watch));
}

static void other_masters_regions_are_no_rivals(void) {
    struct cst_rival_watch watch = {0};
    set(cst_config.available + 1, 0);
    UNIT_CHECK(!tells(&watch));
}

static void idle_workers_are_no_rivals(void) {
    struct cst_rival_watch watch = {0};
    set(1, cst_config.available);
    UNIT_CHECK(!tells(&watch));
}

/* They were awake as the slice began, and have fallen asleep since. The next slice tells. */
static void the_begin_of_the_slice_counts(void) {
    struct cst_rival_watch watch = {0};
    set(1, cst_config.available);
    cst_rival_took(&watch, 0, cst_clock_ns());
    set(1, 0);
    UNIT_CHECK(!tells(&watch));
    UNIT_CHECK(tells(&watch));
}

static bool haskell_runs;

bool __wrap_cst_host_haskell_runs(void);
bool __wrap_cst_host_haskell_runs(void) {
    return haskell_runs;
}

/* Two threads lose a slice at the same time. */
static void lose_both(void) {
    struct cst_rival_watch one = {0}, other = {0};
    cst_rival_took(&one, LOST_NS, cst_clock_ns());
    cst_rival_took(&other, LOST_NS, cst_clock_ns());
}

static void haskell_code_is_no_rival(void) {
    set(cst_config.available, cst_config.available - 1);
    haskell_runs = true;
    lose_both();
    UNIT_CHECK(!cst_rival_was_known());
    haskell_runs = false;
    lose_both();
    UNIT_CHECK(cst_rival_was_known());
}

/* A thread with that many waits in the last 60 ms loses a slice at the end of a spin. Is a rival
 * known then? Forgets it. */
static bool known_after(struct cst_rival_watch *watch, uint32_t waits) {
    watch->counted_ns = cst_clock_ns() - CST_RIVAL_STALE_NS / 2;
    watch->waits = watch->counted_waits + waits;
    cst_rival_note(watch, LOST_NS, cst_clock_ns());
    bool known = cst_rival_was_known();
    while (cst_rival_is_known()) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return known;
}

static void the_end_of_a_spin_tells_of_rivals(void) {
    struct cst_rival_watch watch = {0}, other = {0}, third = {0};
    uint32_t seldom = 10, often = CST_RIVAL_STALE_NS / CST_RIVAL_COARSE_NS;
    set(cst_config.available, cst_config.available - 1);
    UNIT_CHECK(known_after(&watch, seldom));
    UNIT_CHECK(!known_after(&watch, often));
    UNIT_CHECK(!known_after(&other, often)); /* also if two lose it at the same time */
    set(cst_config.available + 1, 0);
    UNIT_CHECK(!known_after(&third, seldom)); /* it may have gone to our own threads */
}

/* Waits until that many workers are awake. */
static void await_awake(uint32_t count) {
    while (cst_load_relaxed(&cst_awake) != count)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void open_region(void) {
    int members = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
    members++;
    UNIT_EQUAL(members, 4);
}

static void workers_count_until_they_sleep(void) {
    set(0, 0);
    for (int i = 0; i < 3; i++) {
        open_region();
        await_awake(0);
    }
    open_region();
    UNIT_EQUAL(omp_pause_resource_all(omp_pause_soft), 0);
    await_awake(0);
}

int main(void) {
    unit_limit(60);
    UNIT_RUN(the_end_of_a_spin_tells_of_rivals);
    /* Before the others, whose losses may count as several at the same time. */
    UNIT_RUN(haskell_code_is_no_rival);
    UNIT_RUN(a_single_team_sees_rivals);
    UNIT_RUN(other_masters_regions_are_no_rivals);
    UNIT_RUN(idle_workers_are_no_rivals);
    UNIT_RUN(the_begin_of_the_slice_counts);
    UNIT_RUN(workers_count_until_they_sleep);
    return unit_state.failures > 0;
}
