/* If addresses or threads are scarce, the RTS boots or refuses with a reason. It never ends the
 * process, as GHC's RTS does by itself.
 *
 * test: plain
 * test: flags -Iruntime -ldl -lpthread */
#include "guest.h"

#include <errno.h>
#include <sys/resource.h>

enum { DONE = 42, NOBODY = 65534 };

static void *work(void *argument) {
    (void)argument;
    return NULL;
}

/* Boots if possible, tries a worker, and exits with a status that tells the result. */
static void try(void) {
    const char *reason = NULL;
    const struct cst_substrate *rts = guest_load();
    int error = rts->start(2, NULL, &reason);
    if (error) CHECK(reason && *reason);
    if (!error) error = rts->spawn(work, NULL, 1, 0, false);
    CHECK(error == 0 || error == EAGAIN || error == ENOMEM);
    _exit(error ? DONE + 1 : DONE);
}

static void with_addresses(long mebibytes) {
    /* The libraries are loaded before the limit: this test is not about their room. */
    guest_load();
    rlim_t room = (rlim_t)status_of("VmSize") * 1024 + ((rlim_t)mebibytes << 20);
    CHECK_EQ(setrlimit(RLIMIT_AS, &(struct rlimit){room, room}), 0);
    try();
}

static void with_threads(long count) {
    CHECK_EQ(setgid(NOBODY), 0);
    CHECK_EQ(setuid(NOBODY), 0);
    rlim_t most = (rlim_t)count;
    CHECK_EQ(setrlimit(RLIMIT_NPROC, &(struct rlimit){most, most}), 0);
    try();
}

static void with_large_stacks(long mebibytes) {
    rlim_t size = (rlim_t)mebibytes << 20;
    CHECK_EQ(setrlimit(RLIMIT_STACK, &(struct rlimit){size, RLIM_INFINITY}), 0);
    try();
}

int main(void) {
    test_limit(120);
    static const int rooms[] = {1, 4, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 2048, 8192};
    for (unsigned i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        int result = in_child(with_addresses, rooms[i]);
        CHECK(result == DONE || result == DONE + 1);
        if (rooms[i] <= 4) CHECK_EQ(result, DONE + 1);
        if (rooms[i] >= 512) CHECK_EQ(result, DONE);
    }
    CHECK_EQ(in_child(with_large_stacks, 1024), DONE);
    if (geteuid() != 0) return 0; /* others cannot become a user without threads */
    for (int i = 0; i <= 8; i++) {
        int result = in_child(with_threads, i);
        CHECK(result == DONE || result == DONE + 1);
        if (i == 0) CHECK_EQ(result, DONE + 1);
    }
    CHECK_EQ(in_child(with_threads, 1000), DONE);
    return 0;
}
