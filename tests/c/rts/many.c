/* Any number of Capabilities may be requested: 0 becomes 1, and too many become GHC's largest
 * number.
 *
 * test: plain
 * test: flags -Iruntime -ldl -lpthread */
#include "guest.h"

#include <sched.h>

static int worked;

static void *work(void *argument) {
    (void)argument;
    INCREMENT(&worked);
    return NULL;
}

static void boot(long wanted) {
    const struct cst_substrate *rts = guest_start((unsigned)wanted);
    unsigned count = rts->capabilities();
    CHECK_EQ(count, wanted < 1 ? 1 : wanted > 256 ? 256 : wanted);
    expect_threads(1 + (long)count);
    /* The last thread that the boot visited may still hold its Capability. */
    while (rts->idle_capabilities() != count) sched_yield();
    for (unsigned i = 0; i <= count; i++) CHECK(!rts->haskell_runs(i));
    for (unsigned i = 1; i <= 2 * count; i++) CHECK_EQ(rts->spawn(work, NULL, i, 0, false), 0);
    AWAIT(&worked, 2 * (int)count);
    /* A second start changes nothing. */
    const char *reason = NULL;
    CHECK_EQ(rts->start(3, NULL, &reason), 0);
    CHECK_EQ(rts->capabilities(), count);
    exit(0);
}

int main(void) {
    test_limit(120);
    static const long wanted[] = {0, 1, 2, 3, 17, 64, 256, 100000};
    for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++)
        CHECK_EQ(in_child(boot, wanted[i]), 0);
    return 0;
}
