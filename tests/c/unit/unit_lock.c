/* core/base/lock.h: exclusion, visibility, sleeping and waking, nesting.
 * Sources: core/wait/lock.c core/settings/config.c and what they need. */
#include "unit.h"

#include "core/settings/config.h"
#include "core/base/lock.h"
#include "platform/platform.h"

#include <pthread.h>

enum { MOST_THREADS = 8 };

static cst_lock lock;
static struct cst_nest_lock nest;
static long counter; /* plain on purpose: only the lock protects it */
static long rounds;

static void together(int threads, void *(*body)(void *)) {
    pthread_t thread[MOST_THREADS];
    for (int i = 0; i < threads; i++)
        UNIT_EQUAL(pthread_create(&thread[i], NULL, body, (void *)(intptr_t)(i + 1)), 0);
    for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
}

static void *count(void *unused) {
    (void)unused;
    for (long i = 0; i < rounds; i++) {
        cst_lock_acquire(&lock);
        counter++;
        cst_lock_release(&lock);
    }
    return NULL;
}

static void exclusion(int threads, uint64_t spin_count) {
    cst_config.spin_count = spin_count;
    counter = 0;
    rounds = 200000 / threads;
    together(threads, count);
    UNIT_EQUAL(counter, rounds * threads);
    UNIT_EQUAL(cst_load_relaxed(&lock), CST_LOCK_FREE);
}

static void excludes_two(void) {
    exclusion(2, 300000);
}
static void excludes_eight(void) {
    exclusion(MOST_THREADS, 300000);
}
static void excludes_when_passive(void) {
    exclusion(MOST_THREADS, 0);
}
static void excludes_when_active(void) {
    exclusion(2, UINT64_MAX);
}

static void try_fails_while_held(void) {
    UNIT_CHECK(cst_lock_try(&lock));
    UNIT_CHECK(!cst_lock_try(&lock));
    cst_lock_release(&lock);
    UNIT_CHECK(cst_lock_try(&lock));
    cst_lock_release(&lock);
}

static void *acquire_once(void *unused) {
    (void)unused;
    cst_lock_acquire(&lock);
    counter++;
    cst_lock_release(&lock);
    return NULL;
}

static void sleep_ms(long ms) {
    _Atomic uint32_t nobody = 0;
    cst_futex_wait_for(&nobody, 0, (uint64_t)ms * 1000000);
}

/* All waiters sleep when the lock is released: each must be woken in turn. */
static void wakes_all_sleepers(void) {
    cst_config.spin_count = 0;
    counter = 0;
    pthread_t thread[MOST_THREADS];
    cst_lock_acquire(&lock);
    for (int i = 0; i < MOST_THREADS; i++) pthread_create(&thread[i], NULL, acquire_once, NULL);
    uint64_t limit = cst_clock_ns() + 5000000000u;
    while (cst_load_relaxed(&lock) != CST_LOCK_CONTENDED && cst_clock_ns() < limit) cst_yield();
    sleep_ms(50);
    UNIT_EQUAL(counter, 0);
    cst_lock_release(&lock);
    for (int i = 0; i < MOST_THREADS; i++) pthread_join(thread[i], NULL);
    UNIT_EQUAL(counter, MOST_THREADS);
    cst_config.spin_count = 300000;
}

static void *release_it(void *unused) {
    (void)unused;
    cst_lock_release(&lock);
    return NULL;
}

static void another_thread_may_release(void) {
    pthread_t thread;
    cst_lock_acquire(&lock);
    pthread_create(&thread, NULL, release_it, NULL);
    cst_lock_acquire(&lock);
    pthread_join(thread, NULL);
    cst_lock_release(&lock);
}

static void nest_counts(void) {
    int me, other;
    UNIT_EQUAL(cst_nest_lock_acquire(&nest, &me), 1);
    UNIT_EQUAL(cst_nest_lock_try(&nest, &me), 2);
    UNIT_EQUAL(cst_nest_lock_try(&nest, &other), 0);
    UNIT_EQUAL(cst_nest_lock_acquire(&nest, &me), 3);
    cst_nest_lock_release(&nest);
    cst_nest_lock_release(&nest);
    UNIT_EQUAL(cst_nest_lock_try(&nest, &other), 0);
    cst_nest_lock_release(&nest);
    UNIT_EQUAL(cst_nest_lock_try(&nest, &other), 1);
    cst_nest_lock_release(&nest);
}

static void *count_nested(void *owner) {
    for (long i = 0; i < rounds; i++) {
        uint32_t depth = 1 + i % 3;
        for (uint32_t d = 0; d < depth; d++) cst_nest_lock_acquire(&nest, owner);
        counter++;
        for (uint32_t d = 0; d < depth; d++) cst_nest_lock_release(&nest);
    }
    return NULL;
}

static void nest_excludes(void) {
    counter = 0;
    rounds = 50000;
    together(4, count_nested);
    UNIT_EQUAL(counter, 4 * rounds);
}

int main(void) {
    unit_limit(60);
    cst_config.spin_count = 300000;
    UNIT_RUN(excludes_two);
    UNIT_RUN(excludes_eight);
    UNIT_RUN(excludes_when_passive);
    UNIT_RUN(excludes_when_active);
    UNIT_RUN(try_fails_while_held);
    UNIT_RUN(wakes_all_sleepers);
    UNIT_RUN(another_thread_may_release);
    UNIT_RUN(nest_counts);
    UNIT_RUN(nest_excludes);
    return unit_result();
}
