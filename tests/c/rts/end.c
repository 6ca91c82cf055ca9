/* A program ends as it would without the RTS, although workers sleep: its exit code, its exit
 * handlers and the signal that ends it are the same.
 *
 * test: plain
 * test: flags -Iruntime -ldl -lpthread */
#include "guest.h"

#include <signal.h>

static void *asleep(void *argument) {
    INCREMENT((int *)argument);
    for (;;) pause();
}

static void boot(void) {
    static int arrived;
    const struct cst_substrate *rts = guest_start(2);
    for (unsigned i = 1; i <= 3; i++) CHECK_EQ(rts->spawn(asleep, &arrived, i, 0, false), 0);
    AWAIT(&arrived, 3);
}

static void last_word(void) {
    if (write(1, "end\n", 4) == 4) fflush(stdout);
}

static void by_exit(long code) {
    boot();
    exit((int)code);
}
static void by_quick_exit(long code) {
    boot();
    quick_exit((int)code);
}
static void by_raw_exit(long code) {
    boot();
    _exit((int)code);
}
static void by_signal(long number) {
    boot();
    raise((int)number);
}

/* The child ends while stdio still holds text: the text must come out, once. */
static void by_buffered_exit(long file) {
    CHECK(dup2((int)file, 1) == 1);
    boot();
    CHECK(atexit(last_word) == 0);
    printf("held back\n");
    exit(5);
}

int main(void) {
    test_limit(60);
    CHECK_EQ(in_child(by_exit, 0), 0);
    CHECK_EQ(in_child(by_exit, 7), 7);
    CHECK_EQ(in_child(by_quick_exit, 8), 8);
    CHECK_EQ(in_child(by_raw_exit, 9), 9);
    CHECK_EQ(in_child(by_signal, SIGTERM), -1);
    CHECK_EQ(in_child(by_signal, SIGINT), -1);

    int ends[2];
    char text[64] = "";
    CHECK_EQ(pipe(ends), 0);
    CHECK_EQ(in_child(by_buffered_exit, ends[1]), 5);
    close(ends[1]);
    CHECK_EQ(read(ends[0], text, sizeof text - 1), 14);
    CHECK(strcmp(text, "end\nheld back\n") == 0 || strcmp(text, "held back\nend\n") == 0);
    return 0;
}
