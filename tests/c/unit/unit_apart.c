/* core/wait/apart.h: a member that gets half of a processor, and spins on a processor where another
 * member was seen, moves to another processor. Its affinity mask stays the same.
 */
#include "unit.h"

#include "core/wait/apart.h"
#include "core/state/team.h"
#include "core/state/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MEMBERS = 3 };

/* A program may replace this call to choose the processors that OpenMP sees; here it shows all. */
static bool chooses;
int pthread_getaffinity_np(pthread_t self, size_t size, cpu_set_t *set) {
    (void)self;
    memset(set, chooses ? 0xff : 0, size);
    return chooses || syscall(SYS_sched_getaffinity, 0, size, set) > 0 ? 0 : EINVAL;
}

/* The monotonic clock stands still, however busy the machine is, as a member whose move takes long
 * goes back. The time that the thread has used is the test's figure plus its own steps. */
int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_MONOTONIC) return (int)syscall(SYS_clock_gettime, clock, time);
    *time = (struct timespec){.tv_sec = 1000};
    return 0;
}

static const uint64_t WINDOW_NS = 20000000;

static struct cst_thread thread;
static struct cst_team team;
static struct cst_seat seat[MEMBERS], *seats[MEMBERS];

static void prepare(void) {
    for (int i = 0; i < MEMBERS; i++) {
        seats[i] = &seat[i];
        seat[i].team = &team;
        cst_store_relaxed(&seat[i].seen_on, 0);
    }
    cst_store_relaxed(&team.seats, seats);
    seat[0].size = MEMBERS;
    thread.team = &team;
    thread.seat = &seat[0];
    cst_store_relaxed(&cst_rival_seen, true);
}

/* Lets the thread have had `percent` of a processor in the last 20 ms. */
static void has_had(uint64_t percent) {
    thread.apart.begun_ns = cst_clock_ns() - WINDOW_NS;
    thread.apart.used_ns = cst_thread_usage().cpu_ns - WINDOW_NS / 100 * percent;
}

static uint64_t before[CST_CPU_MASK_WORDS], after[CST_CPU_MASK_WORDS];

/* Calls cst_apart while another member was seen on this processor. *here is the processor of the
 * call, as the kernel may move the thread at any time. */
static bool meets_another(uint32_t *here, uint64_t percent) {
    bool moved;
    do {
        has_had(percent);
        *here = cst_cpu_current();
        cst_store_relaxed(&seat[1].seen_on, *here + 1);
        moved = cst_apart(&thread);
    } while (!moved && cst_load_relaxed(&seat[0].seen_on) != *here + 1);
    return moved;
}

static void moves_away(void) {
    prepare();
    uint32_t here;
    cst_cpu_mask_get(before, CST_CPU_MASK_WORDS);
    UNIT_CHECK(meets_another(&here, 55));
    UNIT_CHECK(cst_load_relaxed(&seat[0].seen_on) != here + 1);
    UNIT_CHECK(cst_load_relaxed(&seat[0].seen_on) != 0);
    cst_cpu_mask_get(after, CST_CPU_MASK_WORDS);
    UNIT_EQUAL(memcmp(before, after, sizeof before), 0);
}

/* With less than half, more than two threads share the processor; with more, the other member has
 * left. */
static void stays_without_half(void) {
    uint32_t here;
    prepare();
    UNIT_CHECK(!meets_another(&here, 20));
    UNIT_CHECK(!meets_another(&here, 90));
}

static void stays_when_alone(void) {
    prepare();
    has_had(55);
    UNIT_CHECK(!cst_apart(&thread));
    UNIT_CHECK(cst_load_relaxed(&seat[0].seen_on) != 0);
}

static void stays_without_rival(void) {
    prepare();
    cst_store_relaxed(&cst_rival_seen, false);
    uint32_t here;
    cst_store_relaxed(&seat[0].seen_on, 0);
    here = cst_cpu_current();
    cst_store_relaxed(&seat[1].seen_on, here + 1);
    has_had(55);
    UNIT_CHECK(!cst_apart(&thread));
    UNIT_EQUAL(cst_load_relaxed(&seat[0].seen_on), 0);
}

/* The thread is bound to one processor, or members were seen on all of its processors. */
static void stays_where_nothing_is_free(void) {
    prepare();
    uint64_t two[CST_CPU_MASK_WORDS] = {0}, one[CST_CPU_MASK_WORDS] = {0};
    uint32_t found[2], count = 0;
    cst_cpu_mask_get(before, CST_CPU_MASK_WORDS);
    for (uint32_t i = 0; i < 64 * CST_CPU_MASK_WORDS && count < 2; i++)
        if (before[i / 64] >> i % 64 & 1) {
            found[count++] = i;
            two[i / 64] |= 1ull << i % 64;
        }
    one[found[0] / 64] |= 1ull << found[0] % 64;
    for (int i = 0; i < 2; i++) cst_store_relaxed(&seat[1 + i].seen_on, found[i] + 1);
    UNIT_CHECK(cst_cpu_mask_set(one, CST_CPU_MASK_WORDS));
    has_had(55);
    UNIT_CHECK(!cst_apart(&thread));
    UNIT_CHECK(cst_cpu_mask_set(two, CST_CPU_MASK_WORDS));
    has_had(55);
    UNIT_CHECK(!cst_apart(&thread));
    UNIT_CHECK(cst_cpu_mask_set(before, CST_CPU_MASK_WORDS));
}

/* The program's own call does not say where the thread may run: the move neither reads nor sets
 * that mask. */
static void keeps_what_the_kernel_says(void) {
    prepare();
    cst_cpu_mask_get_own(before, CST_CPU_MASK_WORDS);
    uint64_t one[CST_CPU_MASK_WORDS] = {0};
    uint32_t here = cst_cpu_current();
    one[here / 64] = 1ull << here % 64;
    UNIT_CHECK(cst_cpu_mask_set_own(one, CST_CPU_MASK_WORDS));
    chooses = true;
    UNIT_CHECK(!meets_another(&here, 55));
    chooses = false;
    UNIT_EQUAL(cst_cpu_mask_get_own(after, CST_CPU_MASK_WORDS), 1);
    UNIT_CHECK(cst_cpu_mask_set_own(before, CST_CPU_MASK_WORDS));
}

/* A woken thread learns this only if it waited for the waker's own processor. */
static void learns_where_the_woken_go(void) {
    prepare();
    cst_store_relaxed(&cst_rival_seen, false);
    uint64_t one[CST_CPU_MASK_WORDS] = {0};
    cst_cpu_mask_get(before, CST_CPU_MASK_WORDS);
    uint32_t here = cst_cpu_current();
    one[here / 64] = 1ull << here % 64;
    cst_cpu_mask_set(one, CST_CPU_MASK_WORDS);
    cst_apart_woken(0);
    cst_apart_woken(here + 2);
    UNIT_CHECK(!cst_apart_woken_here());
    cst_apart_woken(here + 1);
    UNIT_CHECK(cst_apart_woken_here());
    cst_store_relaxed(&cst_rival_seen, true);
    UNIT_CHECK(!cst_apart_woken_here());
    cst_cpu_mask_set(before, CST_CPU_MASK_WORDS);
}

int main(void) {
    unit_limit(60);
    if (cst_cpu_mask_get(before, CST_CPU_MASK_WORDS) < 2) return 77;
    UNIT_RUN(moves_away);
    UNIT_RUN(stays_without_half);
    UNIT_RUN(stays_when_alone);
    UNIT_RUN(stays_without_rival);
    UNIT_RUN(stays_where_nothing_is_free);
    UNIT_RUN(keeps_what_the_kernel_says);
    UNIT_RUN(learns_where_the_woken_go);
    return unit_result();
}
