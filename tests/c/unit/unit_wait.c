/* core/wait/wait.h: a member yields if it waits for a member that is queued behind it on its
 * processor, although each member could have its own processor. If that happens often, or lasts
 * long, the member moves to another processor. core/team/pool.h: a new worker does not begin behind
 * its maker. The test runs alone, as other threads on the processors would make the kernel separate
 * the members.
 *
 * test: alone
 * test: flags -fopenmp
 */
#include "unit.h"

#include "core/host/busy.h"
#include "core/wait/apart.h"
#include "core/wait/policy.h"
#include "core/wait/rival.h"
#include "core/state/team.h"
#include "core/state/thread.h"
#include "core/wait/wait.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { REGIONS = 50 };

static _Thread_local int yields;
static _Atomic int moves;
static _Atomic int partings; /* the number of masks set for other threads */
static _Atomic int sleeps;

typedef long system_call(long number, ...);

/* Counts, and calls libc's function. Like that function it reads six arguments, even if the caller
 * gave fewer. */
__attribute__((no_sanitize("address"))) long syscall(long number, ...) {
    static _Atomic(system_call *) libcs;
    if (!cst_load_relaxed(&libcs)) cst_store_relaxed(&libcs, dlsym(RTLD_NEXT, "syscall"));
    va_list list;
    long a[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    yields += number == SYS_sched_yield;
    if (number == SYS_sched_setaffinity) cst_add_relaxed(a[0] == 0 ? &moves : &partings, 1);
    if (number == SYS_futex && a[1] == (FUTEX_WAIT | FUTEX_PRIVATE_FLAG))
        cst_add_relaxed(&sleeps, 1);
    return cst_load_relaxed(&libcs)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* The time of the clock below, set when main has begun. 0: the kernel's clock serves, by which the
 * library measures a pause when it is loaded. */
static _Atomic uint64_t looks;

/* The clock advances a microsecond at each look: no member has lost a slice, however busy the
 * machine is. */
int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_MONOTONIC || cst_load_relaxed(&looks) == 0)
        return (int)syscall(SYS_clock_gettime, clock, time);
    uint64_t us = cst_add_relaxed(&looks, 1);
    *time =
        (struct timespec){.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};
    return 0;
}

static void invent_time(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    cst_store_relaxed(&looks, (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
}

static cpu_set_t all;

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set) {
    cst_add_relaxed(&partings, !pthread_equal(thread, pthread_self()));
    (void)size, (void)set;
    return 0;
}

/* Each processor gets one member of the first ones, and one of these is the master. Each other
 * worker among them is moved by setting its mask twice. */
static void begins_apart(void) {
    int processors = omp_get_num_procs();
    int members = 0;
#pragma omp parallel num_threads(processors + 3) reduction(+ : members)
    members++;
    UNIT_EQUAL(members, processors + 3);
    UNIT_EQUAL(cst_load_relaxed(&partings), 2 * (processors - 1));
}

/* Moves both members to the first processor, without the wrapper that counts. */
static void together(void) {
    cpu_set_t first;
    int processor = 0;
    while (!CPU_ISSET(processor, &all)) processor++;
    CPU_ZERO(&first);
    CPU_SET(processor, &first);
#pragma omp parallel num_threads(2)
    sched_setaffinity(0, sizeof first, &first);
}

static void free_again(void) {
#pragma omp parallel num_threads(2)
    sched_setaffinity(0, sizeof all, &all);
}

static void regions(int count) {
    for (int i = 0; i < count; i++) {
        int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
        members++;
        UNIT_EQUAL(members, 2);
    }
}

static void gives_way(void) {
    int regions_with = 0;
    together();
    for (int i = 0; i < REGIONS; i++) {
        int before = yields;
        regions(1);
        UNIT_CHECK(!cst_self()->seat->crowded);
        regions_with += yields > before;
    }
    /* Not in all regions: the worker may have had its slice meanwhile. */
    UNIT_CHECK(regions_with > REGIONS / 2);
}

/* A slice goes to a rival, as no worker is awake meanwhile. */
static void lose_a_slice(void) {
    static struct cst_rival_watch watch;
    uint32_t awake = cst_load_relaxed(&cst_awake);
    cst_sub_relaxed(&cst_awake, awake);
    cst_rival_took(&watch, 2 * CST_RIVAL_SLICE_NS, cst_clock_ns());
    cst_add_relaxed(&cst_awake, awake);
    UNIT_CHECK(cst_load_relaxed(&cst_rival_seen));
}

/* The other member was last seen on this processor. */
static void gives_way_beside_a_rival(void) {
    int regions_with = 0;
    together();
    regions(1);
    for (int i = 0; i < REGIONS; i++) {
        lose_a_slice();
        int before = yields;
        regions(1);
        regions_with += yields > before;
    }
    UNIT_CHECK(regions_with > REGIONS / 2);
    cst_store_relaxed(&cst_rival_seen, false);
}

/* Returns whether another process wants the processors: then members sleep, and move later. */
static bool is_rivalled(void) {
    return cst_load_relaxed(&cst_rival_seen) || cst_rival_was_known();
}

/* The kernel may separate the members first, so the test repeats until they move by themselves. */
static void moves_apart(void) {
    while (cst_load_relaxed(&moves) == 0) {
        together();
        regions(1);
        free_again();
        regions(4 * REGIONS);
    }
}

/* Runs a region of 200 us by the clock above, and returns whether its members were on one
 * processor. */
static bool long_region(void) {
    int found[2];
#pragma omp parallel num_threads(2)
    {
        for (int look = 0; look < 200; look++) cst_clock_ns();
        found[omp_get_thread_num()] = sched_getcpu();
    }
    return found[0] == found[1];
}

/* The member moves soon; without its loss of time it would move after more than thirty regions. */
static void moves_when_it_lost_time(void) {
    int on_one = 0;
    cst_store_relaxed(&moves, 0);
    while (cst_load_relaxed(&moves) == 0 && !is_rivalled()) {
        UNIT_CHECK(on_one < 16);
        together();
        regions(1);
        free_again();
        for (int i = 0; i < 4; i++) on_one += long_region();
    }
}

static void rest_ms(long ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* The worker has left the region, and the master needs six milliseconds more. The worker goes on
 * spinning: by the clock above its 5 ms last 12 or more. For another team's region it would sleep
 * after 300 yields, which can take 2 ms under ThreadSanitizer. */
static void spins_in_its_own_region(void) {
    for (int i = 0; i < REGIONS && !is_rivalled(); i++) {
        int before = cst_load_relaxed(&sleeps);
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 0) rest_ms(6);
        if (cst_load_relaxed(&sleeps) == before) return;
    }
    UNIT_CHECK(is_rivalled());
}

static struct cst_seat seat;
static _Atomic bool enough;

static void *sleep_again(void *unused) {
    cst_store_relaxed(&seat.dock.sleeper, cst_thread_id());
    for (;;) {
        cst_exchange_seq_cst(&seat.dock.parked, CST_PARKED);
        if (cst_load_seq_cst(&enough)) return unused;
        while (cst_load_acquire(&seat.dock.parked) == CST_PARKED)
            cst_futex_wait(&seat.dock.parked, CST_PARKED);
        while (cst_load_acquire(&seat.dock.parked) == CST_PARTING) cst_yield();
    }
}

/* If the kernel queues a woken thread behind its waker, the waker moves it by setting its mask
 * twice. The waker does so once the thread sleeps, not before. */
static void parts_whom_it_wakes(void) {
    static struct cst_team team;
    pthread_t sleeper;
    seat.team = &team;
    pthread_create(&sleeper, NULL, sleep_again, NULL);
    cst_store_relaxed(&cst_apart_wakes_here, true);
    cst_store_relaxed(&partings, 0);
    while (cst_load_relaxed(&partings) == 0) {
        rest_ms(1);
        cst_store_relaxed(&cst_rival_seen, false);
        cst_wake_parked(&seat);
    }
    cst_exchange_seq_cst(&enough, true);
    cst_wake_parked(&seat);
    UNIT_EQUAL(cst_load_relaxed(&partings) % 2, 0);
    pthread_join(sleeper, NULL);
}

int main(void) {
    unit_limit(60);
    sched_getaffinity(0, sizeof all, &all);
    if (omp_get_num_procs() < 2) return 77;
    omp_set_dynamic(0);
    invent_time();
    UNIT_RUN(begins_apart);
    UNIT_RUN(gives_way);
    UNIT_RUN(gives_way_beside_a_rival);
    free_again();
    UNIT_RUN(moves_apart);
    UNIT_RUN(moves_when_it_lost_time);
    UNIT_RUN(spins_in_its_own_region);
    UNIT_RUN(parts_whom_it_wakes);
    return unit_result();
}
