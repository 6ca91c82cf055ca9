/* core/wait/together.h: beside Haskell code that computes, the members above the number of free
 * processors run where the first members run. A master that finds another thread on its processor
 * leaves it. Affinity masks stay the same.
 * test: flags -Wl,--wrap=cst_host_haskell_taken -Wl,--wrap=cst_host_haskell_fills
 */
#include "unit.h"

#include "core/host/busy.h"
#include "core/settings/config.h"
#include "core/state/team.h"
#include "core/state/thread.h"
#include "core/wait/together.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MEMBERS = 4 };

/* The clock, and the processor time of this thread, stand still between the test's own steps. */
static uint64_t now_ns = UINT64_C(1000000000000), used_ns = UINT64_C(1000000000);
int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_THREAD_CPUTIME_ID)
        return (int)syscall(SYS_clock_gettime, clock, time);
    uint64_t ns = clock == CLOCK_MONOTONIC ? now_ns : used_ns;
    *time =
        (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    return 0;
}
static void pass_us(uint64_t us) {
    now_ns += 1000 * us;
}

static struct cst_team team;
static struct cst_seat seat[MEMBERS], *seats[MEMBERS];

static void prepare(uint32_t processors) {
    memset(&team.together, 0, sizeof team.together);
    cst_store_relaxed(&team.together.processors, processors);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        seats[i] = &seat[i];
        seat[i].team = &team;
        seat[i].number = i;
        cst_store_relaxed(&seat[i].seen_on, 0);
    }
    cst_store_relaxed(&team.seats, seats);
}

/* --- the number of processors ------------------------------------------------------------ */

/* These take the place of the host's functions. */
static uint32_t taken;
bool __wrap_cst_host_haskell_fills(void);
bool __wrap_cst_host_haskell_fills(void) {
    return true;
}
uint32_t __wrap_cst_host_haskell_taken(void);
uint32_t __wrap_cst_host_haskell_taken(void) {
    return taken;
}

/* A region of two threads beside so many Haskell threads that run at its begin and at its end. The
 * master's part takes `us`, of which it computes for `computed` us. */
static uint32_t region_between(uint64_t us, uint64_t computed, uint32_t before, uint32_t after) {
    cst_store_relaxed(&cst_busy, 2);
    taken = before;
    uint32_t processors = cst_together_processors(&team, 2);
    pass_us(us);
    used_ns += 1000 * computed;
    taken = after;
    cst_together_arrive(&team);
    return processors;
}

static uint32_t region_of(uint64_t us, uint64_t computed, uint32_t beside) {
    return region_between(us, computed, beside, beside);
}

static uint32_t processors_beside(uint32_t threads) {
    return region_of(200, 150, threads);
}

/* Eight long regions, in 1.6 ms. */
static void begin(void) {
    cst_together_suggest(&team);
    for (int i = 0; i < 8; i++) UNIT_EQUAL(processors_beside(cst_config.available), 0);
}

static void looks_only_when_told(void) {
    prepare(0);
    uint32_t all = cst_config.available;
    for (int i = 0; i < 20; i++) UNIT_EQUAL(processors_beside(all), 0);
    begin();
    UNIT_EQUAL(processors_beside(all), 1);
    UNIT_EQUAL(processors_beside(all + 7), 1);
    UNIT_EQUAL(processors_beside(all - 1), 1);
}

/* More threads than processors, but no Haskell code, are the business of others. */
static void without_haskell_code_too(void) {
    prepare(0);
    cst_together_suggest(&team);
    taken = 0;
    for (int i = 0; i < 20; i++) {
        cst_store_relaxed(&cst_busy, 2 * cst_config.available + 2);
        UNIT_EQUAL(cst_together_processors(&team, 2), 0);
        pass_us(200);
        used_ns += 150000;
        cst_together_arrive(&team);
    }
}

static void begins_after_a_while(void) {
    prepare(0);
    cst_together_suggest(&team);
    for (int i = 0; i < 10; i++) UNIT_EQUAL(region_of(60, 60, cst_config.available), 0);
    for (int i = 0; i < 10; i++) region_of(60, 60, cst_config.available);
    UNIT_EQUAL(region_of(60, 60, cst_config.available), 1);
}

/* A worker of Capstan.Task that ends its last task runs at the begin of the region only. A scout
 * that wakes now and then runs at both ends, but not in many regions. */
static void needs_code_that_goes_on(void) {
    uint32_t all = cst_config.available;
    prepare(0);
    cst_together_suggest(&team);
    for (int i = 0; i < 200; i++) UNIT_EQUAL(region_between(200, 150, all, 0), 0);
    for (int i = 0; i < 200; i++) UNIT_EQUAL(region_between(200, 150, 0, all), 0);
    for (int i = 0; i < 200; i++) {
        cst_together_suggest(&team);
        UNIT_EQUAL(region_between(200, 150, all, i % 2 ? all : 0), 0);
    }
}

/* One region without it does not end it. */
static void goes_on_after_a_miss(void) {
    prepare(0);
    begin();
    for (int i = 0; i < 100; i++)
        UNIT_EQUAL(region_between(200, 150, cst_config.available, i % 8 ? 1 : 0), 1);
}

static void short_regions_do_without(void) {
    prepare(0);
    cst_together_suggest(&team);
    for (int i = 0; i < 1000; i++) UNIT_EQUAL(region_of(5, 5, cst_config.available), 0);
    begin();
    UNIT_EQUAL(region_of(5, 5, cst_config.available), 1);
    UNIT_EQUAL(region_of(5, 5, cst_config.available), 0);
}

/* Short regions take long where other threads drive the master from its processor. */
static void slow_regions_are_not_long(void) {
    prepare(0);
    cst_together_suggest(&team);
    for (int i = 0; i < 1000; i++) UNIT_EQUAL(region_of(900, 5, cst_config.available), 0);
}

/* A collection does not end it; a longer absence does, and nobody looks any more. */
static void lasts_for_a_collection(void) {
    prepare(0);
    begin();
    UNIT_EQUAL(processors_beside(cst_config.available), 1);
    pass_us(4000);
    UNIT_EQUAL(processors_beside(0), 1);
    pass_us(2000);
    UNIT_EQUAL(processors_beside(0), 0);
    UNIT_CHECK(!cst_load_relaxed(&team.together.suggested));
    cst_together_suggest(&team);
    UNIT_EQUAL(processors_beside(cst_config.available), 0); /* it begins anew */
}

/* --- places ------------------------------------------------------------------------------ */

static void follows_the_first(void) {
    prepare(2);
    cst_store_relaxed(&seat[0].seen_on, 11);
    cst_store_relaxed(&seat[1].seen_on, 12);
    const uint32_t expected[MEMBERS] = {0, 0, 11, 12};
    for (int i = 0; i < MEMBERS; i++) UNIT_EQUAL(cst_together_place(&seat[i]), expected[i]);
    prepare(0);
    for (int i = 0; i < MEMBERS; i++) UNIT_EQUAL(cst_together_place(&seat[i]), 0);
}

static uint64_t before[CST_CPU_MASK_WORDS], after[CST_CPU_MASK_WORDS];

/* Moves to each of the thread's processors in turn. The kernel may move the thread again at once,
 * so each move has a hundred tries. */
static void comes(void) {
    size_t count = cst_cpu_mask_get(before, CST_CPU_MASK_WORDS);
    for (uint32_t i = 0; i < 64 * CST_CPU_MASK_WORDS && count > 1; i++) {
        if (!(before[i / 64] >> i % 64 & 1)) continue;
        int tries = 0;
        do {
            prepare(1);
            cst_store_relaxed(&seat[0].seen_on, i + 1);
            cst_store_relaxed(&seat[1].seen_on, i + 2);
            cst_together_come(&seat[1]);
        } while (cst_load_relaxed(&seat[1].seen_on) != i + 1 && ++tries < 100);
        UNIT_CHECK(tries < 100);
        cst_cpu_mask_get(after, CST_CPU_MASK_WORDS);
        UNIT_EQUAL(memcmp(before, after, sizeof before), 0);
    }
}

/* A thread does not come to a processor that its mask forbids. */
static void stays_within_its_mask(void) {
    uint64_t one[CST_CPU_MASK_WORDS] = {0};
    cst_cpu_mask_get(before, CST_CPU_MASK_WORDS);
    uint32_t here = cst_cpu_current();
    one[here / 64] = 1ull << here % 64;
    UNIT_CHECK(cst_cpu_mask_set(one, CST_CPU_MASK_WORDS));
    cst_cpu_move(0, here ^ 1);
    cst_cpu_move(0, 64 * CST_CPU_MASK_WORDS);
    UNIT_EQUAL(cst_cpu_current(), here);
    cst_cpu_mask_get(after, CST_CPU_MASK_WORDS);
    UNIT_EQUAL(memcmp(one, after, sizeof one), 0);
    UNIT_CHECK(cst_cpu_mask_set(before, CST_CPU_MASK_WORDS));
}

/* --- a late master ----------------------------------------------------------------------- */

/* Joins `us` after the last worker. Returns whether the master has left its processor. */
static bool leaves(uint64_t us) {
    uint32_t here;
    team.together.joined = now_ns;
    pass_us(us);
    here = cst_cpu_current();
    cst_together_joined(&team);
    return cst_cpu_current() != here;
}

/* A move is wrong only if it is made: the kernel may move the thread too, and rarely. */
static void leaves_when_late_twice(void) {
    if (cst_cpu_mask_get(before, CST_CPU_MASK_WORDS) < 2) return;
    int left = 0, moved = 0;
    for (int i = 0; i < 50; i++) {
        prepare(1);
        pass_us(10000000); /* the last move is forgotten */
        for (int j = 0; j < 10; j++) moved += leaves(3);
        moved += leaves(600);
        left += leaves(600);
        for (int j = 0; j < 10; j++) moved += leaves(100); /* within 5 ms */
    }
    UNIT_CHECK(left >= 25);
    UNIT_CHECK(moved <= 25);
    cst_cpu_mask_get(after, CST_CPU_MASK_WORDS);
    UNIT_EQUAL(memcmp(before, after, sizeof before), 0);
}

int main(void) {
    unit_limit(20);
    UNIT_RUN(looks_only_when_told);
    UNIT_RUN(without_haskell_code_too);
    UNIT_RUN(begins_after_a_while);
    UNIT_RUN(needs_code_that_goes_on);
    UNIT_RUN(goes_on_after_a_miss);
    UNIT_RUN(short_regions_do_without);
    UNIT_RUN(slow_regions_are_not_long);
    UNIT_RUN(lasts_for_a_collection);
    UNIT_RUN(follows_the_first);
    UNIT_RUN(comes);
    UNIT_RUN(stays_within_its_mask);
    UNIT_RUN(leaves_when_late_twice);
    return unit_result();
}
