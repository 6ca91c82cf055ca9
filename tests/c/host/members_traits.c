/* A worker serves many masters, one after the other. As with GCC's runtime it takes over each
 * master's blocked signals, processors, nice value and floating-point mode. The traits of the
 * thread that made the worker do not matter. A worker without a master takes no signal from the
 * host.
 *
 * test: flags -lm
 * test: not stock a worker there keeps the floating-point mode that it was made with
 */
#define _GNU_SOURCE
#include "process.h"
#include <fenv.h>
#include <omp.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { MEMBERS = 3 };

struct traits {
    sigset_t blocked;
    cpu_set_t processors;
    int nice, rounding;
};

static struct traits own(void) {
    struct traits traits;
    memset(&traits, 0, sizeof traits);
    pthread_sigmask(SIG_SETMASK, NULL, &traits.blocked);
    CHECK(syscall(SYS_sched_getaffinity, 0, sizeof traits.processors, &traits.processors) > 0);
    traits.nice = getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid));
    traits.rounding = fegetround();
    return traits;
}

/* Every member has its master's traits, and computes with its rounding mode. */
static void expect_equal_members(void) {
    struct traits master = own(), members[MEMBERS];
    volatile double one = 1, three = 3;
    double third = one / three, thirds[MEMBERS];
#pragma omp parallel num_threads(MEMBERS)
    {
        members[omp_get_thread_num()] = own();
        thirds[omp_get_thread_num()] = one / three;
    }
    for (int i = 0; i < MEMBERS; i++) {
        for (int signal = 1; signal <= 64; signal++)
            if (signal != 32 && signal != 33)
                CHECK_EQ(sigismember(&members[i].blocked, signal),
                         sigismember(&master.blocked, signal));
        CHECK(CPU_EQUAL(&members[i].processors, &master.processors));
        CHECK_EQ(members[i].nice, master.nice);
        CHECK_EQ(members[i].rounding, master.rounding);
        CHECK(thirds[i] == third);
    }
}

static void block(int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
}

static void *plain(void *unused) {
    expect_equal_members();
    return unused;
}

static void *with_blocked_signals(void *unused) {
    block(SIGUSR2);
    block(SIGTERM);
    expect_equal_members();
    return unused;
}

/* A master on one processor, the last processor of its affinity mask. */
static void *on_one_processor(void *unused) {
    cpu_set_t all, one;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    expect_equal_members();
    return unused;
}

static void *nicer(void *unused) {
    id_t self = (id_t)syscall(SYS_gettid);
    CHECK(setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, self) + 7) == 0);
    expect_equal_members();
    return unused;
}

static void *rounding_up(void *unused) {
    CHECK(fesetround(FE_UPWARD) == 0);
    expect_equal_members();
    return unused;
}

/* The members follow a master that changes its rounding mode. */
static void *rounding_later(void *unused) {
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    for (int i = 0; i < 8; i++) {
        CHECK(fesetround(modes[i % 4]) == 0);
        expect_equal_members();
    }
    return unused;
}

static void in_thread(void *(*function)(void *)) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, function, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

/* No worker takes a signal that all threads of the host block. The signal would end the process. */
static void nobody_takes_signals(void) {
    sigset_t set;
    int got;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    for (int i = 0; i < 50; i++) {
        CHECK(kill(getpid(), SIGUSR1) == 0);
        CHECK(sigwait(&set, &got) == 0);
    }
}

int main(void) {
    static void *(*const threads[])(void *) = {plain, with_blocked_signals, on_one_processor,
                                               nicer, rounding_up,          rounding_later};
    enum { THREADS = sizeof threads / sizeof *threads };
    test_limit(60);
    in_thread(plain);
    block(SIGUSR1); /* in the main thread; later threads inherit it */
    nobody_takes_signals();
    for (int i = 0; i < THREADS; i++)
        for (int j = 0; j < THREADS; j++) {
            in_thread(threads[i]);
            nobody_takes_signals();
            in_thread(threads[j]);
        }
    expect_equal_members();
    nobody_takes_signals();
    return 0;
}
