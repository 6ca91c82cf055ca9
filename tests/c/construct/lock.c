/* Simple locks: exclusion, omp_test_lock, hints, many locks, locks in garbage memory, holders that
 * sleep, and a release while a member waits.
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 * test: env CAPSTAN_WAIT=spin:off
 */
#define _GNU_SOURCE
#include "testing.h"
#include <dlfcn.h>
#include <omp.h>
#include <string.h>

static int inside;

static void pass(void) {
    CHECK_EQ(INCREMENT(&inside), 1);
    sched_yield();
    CHECK_EQ(DECREMENT(&inside), 0);
}

static void exclude(omp_lock_t *lock) {
#pragma omp parallel num_threads(4)
    for (int round = 0; round < 500; round++) {
        omp_set_lock(lock);
        pass();
        omp_unset_lock(lock);
    }
}

static void exclude_by_test(omp_lock_t *lock) {
    int entries = 0;
#pragma omp parallel num_threads(4)
    for (int round = 0; round < 300; round++) {
        while (!omp_test_lock(lock)) sched_yield();
        pass();
        entries++; /* plain: the lock protects it */
        omp_unset_lock(lock);
    }
    CHECK_EQ(entries, 1200);
}

static void count_plainly(omp_lock_t *lock) {
    enum { ROUNDS = 100000, THREADS = 3 };
    long sum = 0;
#pragma omp parallel num_threads(THREADS)
    for (int round = 0; round < ROUNDS; round++) {
        omp_set_lock(lock);
        sum++;
        omp_unset_lock(lock);
    }
    CHECK_EQ(sum, ROUNDS * THREADS);
}

/* omp_test_lock says no while a thread holds the lock, and yes after its release. */
static void test_answers(omp_lock_t *lock) {
    CHECK_EQ(omp_test_lock(lock), 1);
    CHECK_EQ(omp_test_lock(lock), 0);
    int answer = -1;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) answer = omp_test_lock(lock);
    CHECK_EQ(answer, 0);
    omp_unset_lock(lock);
    CHECK_EQ(omp_test_lock(lock), 1);
    omp_unset_lock(lock);
}

/* The holder sleeps for long, so the waiters sleep too; the lock must wake each of them. */
static void long_holder(omp_lock_t *lock) {
    int entered = 0;
#pragma omp parallel num_threads(8)
    {
        omp_set_lock(lock);
        if (++entered == 1) pause_ms(30);
        pass();
        omp_unset_lock(lock);
    }
    CHECK_EQ(entered, 8);
}

/* Two locks do not exclude each other. */
static void independent(omp_lock_t *a, omp_lock_t *b) {
    int holds[2] = {0};
#pragma omp parallel num_threads(2)
    {
        int me = omp_get_thread_num();
        omp_set_lock(me ? a : b);
        SET(&holds[me], 1);
        AWAIT(&holds[1 - me], 1);
        omp_unset_lock(me ? a : b);
    }
}

/* The master releases a lock that a member waits for; the member begins to wait before the
 * release. */
static void hand_over(omp_lock_t *lock) {
    int released = 0, waiting = 0;
    omp_set_lock(lock);
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 1) {
            SET(&waiting, 1);
            omp_set_lock(lock);
            CHECK_EQ(GET(&released), 1);
            omp_unset_lock(lock);
        } else {
            AWAIT(&waiting, 1);
            pause_ms(20);
            SET(&released, 1);
            omp_unset_lock(lock);
        }
    }
}

/* omp.h declares omp_init_lock_with_hint, yet GCC 12's library has no such symbol. The test looks
 * it up by name, and calls omp_init_lock if it is missing. */
static void init_with_hint(omp_lock_t *lock, omp_sync_hint_t hint) {
    void (*init)(omp_lock_t *, omp_sync_hint_t) = dlsym(RTLD_DEFAULT, "omp_init_lock_with_hint");
    if (init)
        init(lock, hint);
    else
        omp_init_lock(lock);
}

int main(void) {
    test_limit(50);
    const omp_lock_hint_t hints[] = {omp_lock_hint_none, omp_lock_hint_contended,
                                     omp_lock_hint_uncontended,
                                     omp_lock_hint_speculative | omp_lock_hint_nonspeculative};
    for (unsigned kind = 0; kind < 5; kind++) {
        /* Neighbours of the lock show a write beyond its size. */
        struct {
            unsigned before;
            omp_lock_t lock, other;
            unsigned after;
        } all;
        memset(&all, 0xa5, sizeof all);
        if (kind == 4) {
            omp_init_lock(&all.lock);
            omp_init_lock(&all.other);
        } else {
            init_with_hint(&all.lock, hints[kind]);
            init_with_hint(&all.other, hints[kind]);
        }
        test_answers(&all.lock);
        exclude(&all.lock);
        exclude_by_test(&all.lock);
        count_plainly(&all.lock);
        long_holder(&all.lock);
        independent(&all.lock, &all.other);
        hand_over(&all.lock);
        omp_destroy_lock(&all.lock);
        omp_destroy_lock(&all.other);
        CHECK_EQ(all.before, 0xa5a5a5a5u);
        CHECK_EQ(all.after, 0xa5a5a5a5u);
    }
    return 0;
}
