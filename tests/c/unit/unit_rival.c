/* core/wait/rival.h: a slice that may have gone to one of the runtime's own threads tells nothing
 * of rivals, and neither does one beside Haskell code of the process. The end of a spin tells too.
 * core/host/busy.h: workers count as awake until they sleep in their docks or end.
 * test: flags -fopenmp -Wl,--wrap=cst_host_haskell_runs,--wrap=cst_rival_took,--wrap=cst_rival_note
 */
#include "unit.h"

#include "core/host/busy.h"
#include "core/settings/config.h"
#include "core/wait/policy.h"
#include "core/wait/rival.h"
#include "platform/platform.h"

#include <omp.h>
#include <sched.h>
#include <time.h>

enum { LOST_NS = 3000000, TASK_NS = 100000000 };

static _Atomic uint64_t most_ns; /* the longest slice that counted as lost */

static void note_most(uint64_t ns) {
    uint64_t most = cst_load_relaxed(&most_ns);
    while (ns > most && !cst_cas_relaxed(&most_ns, &most, ns)) continue;
}

bool __real_cst_rival_took(struct cst_rival_watch *watch, uint64_t ns, uint64_t now);
bool __wrap_cst_rival_took(struct cst_rival_watch *watch, uint64_t ns, uint64_t now);
bool __wrap_cst_rival_took(struct cst_rival_watch *watch, uint64_t ns, uint64_t now) {
    note_most(ns);
    return __real_cst_rival_took(watch, ns, now);
}

void __real_cst_rival_note(struct cst_rival_watch *watch, uint64_t ns, uint64_t now);
void __wrap_cst_rival_note(struct cst_rival_watch *watch, uint64_t ns, uint64_t now);
void __wrap_cst_rival_note(struct cst_rival_watch *watch, uint64_t ns, uint64_t now) {
    note_most(ns);
    __real_cst_rival_note(watch, ns, now);
}

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

static void compute_for(uint64_t ns) {
    for (uint64_t begin = cst_clock_ns(); cst_clock_ns() - begin < ns;) continue;
}

/* A worker that spins at a barrier runs a task. The master comes to the barrier after that time. */
static void help_at_barrier(uint64_t master_ns) {
#pragma omp parallel num_threads(2)
    {
#pragma omp master
        {
            compute_for(CST_SPIN_NS / 4); /* the worker spins by now */
#pragma omp task
            nanosleep(&(struct timespec){.tv_nsec = TASK_NS}, NULL);
            compute_for(master_ns);
        }
#pragma omp barrier
    }
}

/* Before the first region, as workers read the settings. Beside other programs the worker would
 * otherwise sleep: at once, or before the master has made the task. */
static void spin_for_long(void) {
    cst_policy.spin_ns = UINT64_C(10000000000);
    cst_config.wait_off |= CST_HEURISTIC_RIVALS;
    cst_store_relaxed(&most_ns, 0);
}

/* The members spin on one processor, each until the kernel gives it to the other one. */
static void a_member_here_is_no_rival(void) {
    uint64_t spin_ns = cst_policy.spin_ns;
    uint32_t wait_off = cst_config.wait_off;
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    spin_for_long();
    cst_config.wait_off |= CST_HEURISTIC_GIVEWAY | CST_HEURISTIC_NEWCOMER;
    for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(2)
        UNIT_CHECK(CPU_ISSET(sched_getcpu(), &one));
    }
    UNIT_CHECK(cst_load_relaxed(&most_ns) < CST_RIVAL_SLICE_NS);
    UNIT_EQUAL(omp_pause_resource_all(omp_pause_soft), 0);
    sched_setaffinity(0, sizeof all, &all);
    cst_policy.spin_ns = spin_ns;
    cst_config.wait_off = wait_off;
}

static void tasks_are_no_lost_slices(void) {
    uint64_t spin_ns = cst_policy.spin_ns;
    spin_for_long();
    for (int i = 0; i < 3; i++) {
        help_at_barrier(TASK_NS + CST_SPIN_NS / 2); /* the worker spins on */
        UNIT_CHECK(cst_load_relaxed(&most_ns) < TASK_NS);
        help_at_barrier(TASK_NS / 2); /* the wait ends with the task */
        UNIT_CHECK(cst_load_relaxed(&most_ns) < TASK_NS);
    }
    UNIT_EQUAL(omp_pause_resource_all(omp_pause_soft), 0);
    cst_policy.spin_ns = spin_ns;
    cst_config.wait_off &= ~CST_HEURISTIC_RIVALS;
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
    UNIT_RUN(a_member_here_is_no_rival);
    UNIT_RUN(tasks_are_no_lost_slices);
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
