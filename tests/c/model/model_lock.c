/* core/wait/lock.c: the lock has one holder at a time, and no thread sleeps for ever. */
#include "core/base/lock.h"
#include "models.h"

static cst_lock lock;
static _Atomic int inside;
static int entered, expected;

static void enter(void) {
    cst_lock_acquire(&lock);
    EXPLORE_CHECK(cst_add_relaxed(&inside, 1) == 0);
    entered++;
    cst_add_relaxed(&inside, -1);
    cst_lock_release(&lock);
}

static void once(unsigned number) {
    (void)number;
    enter();
}

static void twice(unsigned number) {
    (void)number;
    enter();
    enter();
}

static void try(unsigned number) {
    if (number == 0) {
        enter();
    } else if (cst_lock_try(&lock)) {
        EXPLORE_CHECK(cst_add_relaxed(&inside, 1) == 0);
        cst_add_relaxed(&inside, -1);
        cst_lock_release(&lock);
    }
}

static void all_entered(void) {
    EXPLORE_CHECK(entered == expected);
}

static void three(void) {
    models_configure(2, false);
    expected = 3;
}

static void four(void) {
    models_configure(2, false);
    expected = 4;
}

static void one(void) {
    models_configure(2, false);
    expected = 1;
}

int models_run(void) {
    const struct explore_model models[] = {
        {"lock, three threads", three, once, all_entered, .threads = 3},
        {"lock, two threads twice", four, twice, all_entered, .threads = 2},
        {"lock, one acquires, one tries", one, try, all_entered, .threads = 2},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
