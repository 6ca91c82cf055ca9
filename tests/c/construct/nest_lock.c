/* A nestable lock belongs to a task: that task may set it again, but another task may not, not even
 * on the same thread.
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 */
#define _GNU_SOURCE
#include "testing.h"
#include <dlfcn.h>
#include <omp.h>
#include <string.h>

static int inside;

static void exclude(omp_nest_lock_t *lock) {
#pragma omp parallel num_threads(4)
    for (int round = 0; round < 300; round++) {
        omp_set_nest_lock(lock);
        omp_set_nest_lock(lock);
        CHECK_EQ(INCREMENT(&inside), 1);
        omp_unset_nest_lock(lock);
        sched_yield(); /* the task still holds the lock once */
        CHECK_EQ(DECREMENT(&inside), 0);
        omp_unset_nest_lock(lock);
    }
}

static void counts(omp_nest_lock_t *lock) {
    CHECK_EQ(omp_test_nest_lock(lock), 1);
    CHECK_EQ(omp_test_nest_lock(lock), 2);
    omp_set_nest_lock(lock);
    CHECK_EQ(omp_test_nest_lock(lock), 4);
    int elsewhere = -1;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) elsewhere = omp_test_nest_lock(lock);
    CHECK_EQ(elsewhere, 0);
    for (int depth = 0; depth < 3; depth++) omp_unset_nest_lock(lock);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) elsewhere = omp_test_nest_lock(lock);
    CHECK_EQ(elsewhere, 0);
    omp_unset_nest_lock(lock);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
        elsewhere = omp_test_nest_lock(lock);
        omp_unset_nest_lock(lock);
    }
    CHECK_EQ(elsewhere, 1);
}

/* The owner is the task, not the thread. */
static void owned_by_task(omp_nest_lock_t *lock) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_set_nest_lock(lock);
        int child = -1;
#pragma omp task if (0) shared(child)
        child = omp_test_nest_lock(lock);
        CHECK_EQ(child, 0);
        CHECK_EQ(omp_test_nest_lock(lock), 2);
        omp_unset_nest_lock(lock);
        omp_unset_nest_lock(lock);
    }
}

static void count_plainly(omp_nest_lock_t *lock) {
    enum { ROUNDS = 50000, THREADS = 3 };
    long sum = 0;
#pragma omp parallel num_threads(THREADS)
    for (int round = 0; round < ROUNDS; round++) {
        omp_set_nest_lock(lock);
        omp_set_nest_lock(lock);
        sum++;
        omp_unset_nest_lock(lock);
        omp_unset_nest_lock(lock);
    }
    CHECK_EQ(sum, ROUNDS * THREADS);
}

static void long_holder(omp_nest_lock_t *lock) {
    int entered = 0;
#pragma omp parallel num_threads(8)
    {
        omp_set_nest_lock(lock);
        omp_set_nest_lock(lock);
        if (++entered == 1) pause_ms(30);
        omp_unset_nest_lock(lock);
        omp_unset_nest_lock(lock);
    }
    CHECK_EQ(entered, 8);
}

/* omp.h declares omp_init_nest_lock_with_hint, yet GCC 12's library has no such symbol. The test
 * looks it up by name, and calls omp_init_nest_lock if it is missing. */
static void init_with_hint(omp_nest_lock_t *lock, omp_sync_hint_t hint) {
    void (*init)(omp_nest_lock_t *, omp_sync_hint_t) =
        dlsym(RTLD_DEFAULT, "omp_init_nest_lock_with_hint");
    if (init)
        init(lock, hint);
    else
        omp_init_nest_lock(lock);
}

int main(void) {
    test_limit(50);
    for (int hinted = 0; hinted < 2; hinted++) {
        struct {
            unsigned before;
            omp_nest_lock_t lock;
            unsigned after;
        } all;
        memset(&all, 0x5a, sizeof all);
        if (hinted)
            init_with_hint(&all.lock, omp_lock_hint_contended);
        else
            omp_init_nest_lock(&all.lock);
        counts(&all.lock);
        exclude(&all.lock);
        owned_by_task(&all.lock);
        count_plainly(&all.lock);
        long_holder(&all.lock);
        omp_destroy_nest_lock(&all.lock);
        CHECK_EQ(all.before, 0x5a5a5a5au);
        CHECK_EQ(all.after, 0x5a5a5a5au);
    }
    return 0;
}
