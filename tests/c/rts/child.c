/* A forked child has the RTS's memory but none of its threads. The child must be able to run, fork,
 * execute another program and end, without effect on its parent.
 *
 * test: plain
 * test: flags -Iruntime -ldl -lpthread */
#include "guest.h"

#include <pthread.h>

static int arrived, leave;

static void *asleep(void *argument) {
    (void)argument;
    INCREMENT(&arrived);
    AWAIT(&leave, 1);
    return NULL;
}

static void *nothing(void *argument) {
    return argument;
}

static void live(long code) {
    CHECK_EQ(status_of("Threads"), 1);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, nothing, NULL), 0);
    pthread_join(thread, NULL);
    free(malloc(1 << 20));
    if (code > 1) CHECK_EQ(in_child(live, code - 1), code - 1);
    exit((int)code);
}

static void execute(long code) {
    (void)code;
    execl("/bin/sh", "sh", "-c", "exit 6", NULL);
}

int main(void) {
    test_limit(60);
    const struct cst_substrate *rts = guest_start(2);
    for (unsigned i = 1; i <= 2; i++) CHECK_EQ(rts->spawn(asleep, NULL, i, 0, false), 0);
    AWAIT(&arrived, 2);
    for (int i = 0; i < 20; i++) CHECK_EQ(in_child(live, 3), 3);
    CHECK_EQ(in_child(execute, 0), 6);
    SET(&leave, 1);
    expect_threads(3);
    SET(&arrived, 0);
    CHECK_EQ(rts->spawn(asleep, NULL, 3, 0, false), 0);
    AWAIT(&arrived, 1);
    return 0;
}
