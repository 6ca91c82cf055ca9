/* Regions leave a process as it was: locale, signal actions, mask and alternate stack, limits,
 * timers, environment, directory, umask, errno, floating-point state, file descriptors. The address
 * space grows by the workers' stacks only.
 * test: flags -lm
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 */
#define _GNU_SOURCE
#include "process.h"
#include <fenv.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

extern char **environ;

struct state {
    char locale[200], directory[500];
    struct sigaction action[65];
    sigset_t mask;
    stack_t stack;
    struct rlimit limit[RLIM_NLIMITS];
    struct itimerval timer[3];
    mode_t umask;
    unsigned environment_hash, environment_count;
    int rounding, exceptions, traps, descriptors;
    bool subnormal; /* results are not flushed to zero */
    struct timespec date;
};

static bool has_subnormal(void) {
    static volatile double least = DBL_MIN, half;
    half = least / 2;
    return half != 0;
}

static int open_descriptors(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder)) count++;
    closedir(folder);
    return count - 3; /* without ., .. and the descriptor of the folder itself */
}

static struct state *take(void) {
    struct state *s = calloc(1, sizeof *s);
    snprintf(s->locale, sizeof s->locale, "%s", setlocale(LC_ALL, NULL));
    CHECK(getcwd(s->directory, sizeof s->directory) != NULL);
    for (int signal = 1; signal <= 64; signal++) sigaction(signal, NULL, &s->action[signal]);
    pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
    sigaltstack(NULL, &s->stack);
    for (int i = 0; i < RLIM_NLIMITS; i++) getrlimit(i, &s->limit[i]);
    for (int i = 0; i < 3; i++) getitimer(i, &s->timer[i]);
    s->umask = umask(0);
    umask(s->umask);
    s->traps = fegetexcept();
    s->subnormal = has_subnormal();
    s->rounding = fegetround();
    s->exceptions = fetestexcept(FE_ALL_EXCEPT);
    s->descriptors = open_descriptors();
    for (char **variable = environ; *variable; variable++, s->environment_count++)
        for (char *c = *variable; *c; c++)
            s->environment_hash = s->environment_hash * 31 + (unsigned char)*c;
    return s;
}

static void compare(struct state *before, struct state *after) {
    CHECK(!strcmp(before->locale, after->locale));
    CHECK(!strcmp(before->directory, after->directory));
    for (int signal = 1; signal <= 64; signal++) {
        struct sigaction *a = &before->action[signal], *b = &after->action[signal];
        if (a->sa_handler != b->sa_handler || a->sa_flags != b->sa_flags)
            fprintf(stderr, "action of signal %d changed\n", signal);
        CHECK(a->sa_handler == b->sa_handler);
        CHECK_EQ(a->sa_flags, b->sa_flags);
    }
    for (int signal = 1; signal <= 64; signal++)
        CHECK_EQ(sigismember(&before->mask, signal), sigismember(&after->mask, signal));
    CHECK(before->stack.ss_sp == after->stack.ss_sp);
    CHECK_EQ(before->stack.ss_flags, after->stack.ss_flags);
    CHECK(!memcmp(before->limit, after->limit, sizeof before->limit));
    CHECK(!memcmp(before->timer, after->timer, sizeof before->timer));
    CHECK_EQ(before->umask, after->umask);
    CHECK_EQ(before->traps, after->traps);
    CHECK_EQ(before->subnormal, after->subnormal);
    CHECK_EQ(before->rounding, after->rounding);
    CHECK_EQ(before->exceptions, after->exceptions);
    CHECK_EQ(before->environment_count, after->environment_count);
    CHECK_EQ(before->environment_hash, after->environment_hash);
}

static volatile int sink;

static void handler(int signal) {
    sink = signal;
}

static void many_regions(void) {
    for (int round = 0; round < 200; round++) {
        int size = 1 + round % 4, sum = 0;
#pragma omp parallel num_threads(size) reduction(+ : sum)
        {
#pragma omp for schedule(dynamic)
            for (int i = 0; i < 20; i++) sum += i;
#pragma omp task
            sched_yield();
#pragma omp barrier
            if (round == 100) pause_ms(1);
        }
        CHECK_EQ(sum, 190);
    }
}

/* If a lock is free again, the kernel refuses to let a thread sleep on it. The refusal does not
 * reach the member's errno. */
static void errno_stays_in_members(void) {
    long turns = 0;
#pragma omp parallel num_threads(8)
    {
        errno = 4321;
        for (int i = 0; i < 2000; i++) {
#pragma omp critical
            {
                if (turns++ % 8 == 0) sched_yield();
            }
        }
        CHECK_EQ(errno, 4321);
    }
}

/* By C's rules a call that succeeds may change errno, but a region is no call. */
static void errno_stays(void) {
    for (int round = 0; round < 300; round++) {
        errno = 4321;
#pragma omp parallel num_threads(3)
        {
            if (omp_get_thread_num() == round % 3) usleep(100);
#pragma omp barrier
#pragma omp critical
            sched_yield();
#pragma omp single
            sched_yield();
        }
        CHECK_EQ(errno, 4321);
    }
}

/* Workers have the default floating-point state, whatever the caller of the first region set. A
 * state that a member sets is its own. */
static void floating_point(void) {
    fesetround(FE_UPWARD);
#pragma omp parallel num_threads(3)
    {
        volatile double one = 1, three = 3;
        if (omp_get_thread_num() == 0) CHECK_EQ(fegetround(), FE_UPWARD);
        CHECK(fabs(one / three - 0.3333333333333333) < 1e-15);
    }
    CHECK_EQ(fegetround(), FE_UPWARD);
    feraiseexcept(FE_INEXACT | FE_UNDERFLOW);
    many_regions();
    CHECK_EQ(fetestexcept(FE_INEXACT | FE_UNDERFLOW), FE_INEXACT | FE_UNDERFLOW);
    CHECK_EQ(fegetround(), FE_UPWARD);
}

static void set_up(void) {
    static char alternate[32768];
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
    const int handled[] = {SIGINT, SIGQUIT, SIGTSTP, SIGUSR1, SIGVTALRM, SIGCHLD};
    for (unsigned i = 0; i < sizeof handled / sizeof *handled; i++)
        sigaction(handled[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigaddset(&blocked, SIGWINCH);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = sizeof alternate}, NULL);
    umask(027);
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(FE_DIVBYZERO);
    setlocale(LC_ALL, "C");
}

int main(void) {
    test_limit(40);
    set_up();
    alarm(0); /* the timer would count down between the two measurements */
    struct state *before = take();
    long size_before = status_number("VmSize");
    many_regions();
    struct state *after = take();
    long size_after = status_number("VmSize");
    compare(before, after);
    /* Three stacks of 8 MiB, three of glibc's arenas of 64 to 128 MiB; on GHC's runtime more
     * threads and its heap. Never a reservation of a terabyte. */
    long growth = size_after - size_before;
    if (growth > 3000000) fprintf(stderr, "VmSize grew by %ld KiB\n", growth);
    CHECK(growth < 3000000);
    CHECK(after->descriptors <= before->descriptors + (on_rts() ? 16 : 2));
    test_limit(30);
    errno_stays();
    errno_stays_in_members();
    floating_point();
    return 0;
}
