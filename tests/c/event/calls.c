/* The manager makes one system call, epoll_ctl, for a registration, a change or an end, and none
 * for a timer. A filter in the kernel ends the process at any other system call.
 */
#include "event_testing.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { PIPES = 200, TIMERS = 5000 };

static int epoll_calls;

/* Takes the place of the function of the C library, also for the manager. */
int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event) {
    epoll_calls++;
    return (int)syscall(SYS_epoll_ctl, epoll, operation, fd, event);
}

#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                                           \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* The filter also allows the calls of a failed check, and the clock, which some kernels do not
 * offer in the vDSO. */
static void allow_epoll_ctl_alone(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_epoll_ctl),
        ALLOW(SYS_clock_gettime),
        ALLOW(SYS_write),
        ALLOW(SYS_exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        test_skip("the kernel filters no system calls");
}

static capstan_manager *manager;
static int ends[PIPES][2];
static capstan_watch watch[PIPES];
static capstan_timer timer[TIMERS];
static struct seen seen;
static uint64_t fired;

static void register_all(void) {
    for (int i = 0; i < PIPES; i++)
        CHECK_EQ(capstan_fd_register(manager, ends[i][0], CAPSTAN_READ, note, &seen, &watch[i]), 0);
}

static void unregister_all(void) {
    for (int i = 0; i < PIPES; i++) CHECK_EQ(capstan_fd_unregister(manager, watch[i]), 0);
}

static void start_timers(void) {
    for (int i = 0; i < TIMERS; i++)
        CHECK_EQ(capstan_timer_start(manager, (uint64_t)(i + 1) * 1000 * MS, 0, note_timer, &fired,
                                     &timer[i]),
                 0);
}

static void cancel_timers(void) {
    for (int i = 0; i < TIMERS; i++) CHECK_EQ(capstan_timer_cancel(manager, timer[i]), 0);
}

int main(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    test_skip("sanitizers make system calls of their own");
#endif
    const char *preloaded = getenv("LD_PRELOAD");
    if (preloaded != NULL && strstr(preloaded, "vgpreload") != NULL)
        test_skip("valgrind makes system calls of its own");
    test_limit(30);
    manager = new_manager("epoll");
    for (int i = 0; i < PIPES; i++) make_pipe(ends[i]);
    /* This first round gives the tables their memory. */
    register_all();
    unregister_all();
    start_timers();
    cancel_timers();
    CHECK_EQ(run_all(manager), 0);

    allow_epoll_ctl_alone();
    epoll_calls = 0;
    register_all();
    CHECK_EQ(epoll_calls, PIPES);
    for (int i = 0; i < PIPES; i++)
        CHECK_EQ(capstan_fd_change(manager, watch[i], CAPSTAN_READ | CAPSTAN_HANGUP), 0);
    CHECK_EQ(epoll_calls, 2 * PIPES);
    unregister_all();
    CHECK_EQ(epoll_calls, 3 * PIPES);
    start_timers();
    for (int i = 0; i < TIMERS; i++)
        CHECK_EQ(capstan_timer_reschedule(manager, timer[i], 5000 * MS), 0);
    cancel_timers();
    CHECK_EQ(epoll_calls, 3 * PIPES);
    CHECK_EQ(fired, 0);
    _exit(0); /* exit() would make system calls that the filter forbids */
}
