/* A program may give up system calls (seccomp) and compute on. Then a region makes no system call
 * that GCC's runtime would not make, whatever it waits for. A filter that covers one thread also
 * covers the members of its team, and no other team's members. These members end with the thread.
 * Members also inherit the other traits of their master: timer slack, disk priority, capabilities,
 * and working folder.
 *
 * test: not stock libgomp's first region reads files of /proc and /sys
 * test: not qemu qemu does not offer filters of system calls
 * test: env OMP_MAX_ACTIVE_LEVELS=2
 */
#define _GNU_SOURCE
#include "confine.h"
#include "process.h"
#include <omp.h>
#include <pthread.h>
#include <sched.h>

/* --- a program with hardly any system call -------------------------------------------------- */

/* The allowed system calls: those that GCC's runtime and the C library make for regions, those of
 * this program, and the question for a filter. Any other call ends the process. */
static const int allowed[] = {
    SYS_futex,      SYS_clone,           SYS_clone3,          SYS_mmap,
    SYS_munmap,     SYS_mprotect,        SYS_madvise,         SYS_brk,
    SYS_rseq,       SYS_getrandom,       SYS_set_robust_list, SYS_exit,
    SYS_exit_group, SYS_rt_sigprocmask,  SYS_rt_sigaction,    SYS_write,
    SYS_prctl,      SYS_clock_nanosleep, SYS_rt_sigreturn,    SYS_restart_syscall,
};
enum { ALLOWED = sizeof allowed / sizeof *allowed };

static void confine(unsigned flags) {
    struct sock_filter filter[ALLOWED + 3];
    filter[0] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < ALLOWED; i++)
        filter[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                     (unsigned)allowed[i], ALLOWED - i, 0);
    filter[ALLOWED + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    filter[ALLOWED + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    install_filter(filter, ALLOWED + 3, flags);
}

static void tree(int depth, int *leaves) {
    if (depth == 0) {
        __atomic_add_fetch(leaves, 1, __ATOMIC_RELAXED);
        return;
    }
#pragma omp task
    tree(depth - 1, leaves);
#pragma omp task
    tree(depth - 1, leaves);
#pragma omp taskwait
}

/* Waits of all kinds: short waits, waits that need sleep, for tasks, for iterations. */
static void compute(int threads) {
    int sum = 0, leaves = 0;
    for (int i = 0; i < 40; i++) {
#pragma omp parallel num_threads(threads) reduction(+ : sum)
        {
            if (i % 10 == 0 && omp_get_thread_num() == 0) pause_ms(8);
#pragma omp barrier
            if (i % 10 == 5 && omp_get_thread_num() > 0) pause_ms(8);
#pragma omp for schedule(dynamic)
            for (int j = 0; j < 20; j++) sum++;
        }
    }
    CHECK_EQ(sum, 40 * 20);
#pragma omp parallel num_threads(threads)
#pragma omp single
    tree(8, &leaves);
    CHECK_EQ(leaves, 256);
}

static void *computes(void *unused) {
    compute(2);
    return unused;
}

static void in_thread(void *(*function)(void *)) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, function, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

/* Also waits beyond the time after which idle workers look whether they are needed. */
static void compute_all(void) {
    compute(2);
    compute(5);
    pause_ms(1300);
    in_thread(computes);
    int inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : inner)
    {
#pragma omp parallel num_threads(2) reduction(+ : inner)
        inner++;
    }
    CHECK_EQ(inner, 4);
}

/* The worker still spins when the filter comes. The next region makes the machine oversubscribed,
 * so the worker would yield. A spinning worker yields 20 us after the region, 60, 140 and so on; a
 * filter that comes in that very moment ends the program. So the filter comes 2 ms after it. */
static void confine_beside_a_spinning_worker(void) {
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum++;
    pause_ms(2);
    forbid(SYS_sched_yield, SECCOMP_FILTER_FLAG_TSYNC);
#pragma omp parallel num_threads(30) reduction(+ : sum)
    sum++;
    CHECK_EQ(sum, 32);
}

/* --- one thread with a filter --------------------------------------------------------------- */

static int filtered(void) {
    return prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER;
}

/* All three inner teams are open at the same time, so the pool needs the same number of workers
 * each time. */
static void expect_members(int with_filter) {
    static _Atomic int open;
    int right = 0;
    open = 0;
#pragma omp parallel num_threads(3) reduction(+ : right)
    {
        right += filtered() == with_filter;
#pragma omp parallel num_threads(2) reduction(+ : right)
        {
            right += filtered() == with_filter;
            if (omp_get_thread_num() == 0) open++;
            while (open < 3) sched_yield();
        }
    }
    CHECK_EQ(right, 3 + 2 * 3);
}

static void *without_filter(void *unused) {
    expect_members(0);
    return unused;
}

static void *with_filter(void *unused) {
    confine_lightly();
    expect_members(1);
    expect_members(1);
    return unused;
}

static void filters_stay_with_their_threads(void) {
    in_thread(without_filter);
    in_thread(with_filter);
    in_thread(without_filter);
    long before = settled_thread_count();
    for (int i = 0; i < 20; i++) in_thread(with_filter);
    in_thread(without_filter);
    CHECK(settled_thread_count() <= before);
}

/* --- other traits ---------------------------------------------------------------------------- */

enum { BY_THREAD = 1, IDLE_CLASS = 3 << 13 };

static void expect_equal_members(void) {
    char master[512], member[3][512];
    int slack[3], class[3];
    CHECK(getcwd(master, sizeof master) != NULL);
#pragma omp parallel num_threads(3)
    {
        int number = omp_get_thread_num();
        slack[number] = prctl(PR_GET_TIMERSLACK);
        class[number] = (int)syscall(SYS_ioprio_get, BY_THREAD, 0);
        if (!getcwd(member[number], sizeof *member)) member[number][0] = 0;
    }
    for (int i = 1; i < 3; i++) {
        CHECK_EQ(slack[i], slack[0]);
        CHECK_EQ(class[i], class[0]);
        CHECK(strcmp(member[i], master) == 0);
    }
}

static void *usual(void *unused) {
    expect_equal_members();
    return unused;
}

static void *with_slack(void *unused) {
    CHECK(prctl(PR_SET_TIMERSLACK, 1234) == 0);
    expect_equal_members();
    return unused;
}

static void *last_at_disks(void *unused) {
    CHECK(syscall(SYS_ioprio_set, BY_THREAD, 0, IDLE_CLASS) == 0);
    expect_equal_members();
    return unused;
}

static void *in_another_folder(void *unused) {
    CHECK(unshare(CLONE_FS) == 0);
    CHECK(chdir("/") == 0);
    expect_equal_members();
    return unused;
}

static void traits_are_the_masters(void) {
    static void *(*const threads[])(void *) = {usual, with_slack, last_at_disks, in_another_folder};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            in_thread(threads[i]);
            in_thread(threads[j]);
        }
}

/* --------------------------------------------------------------------------------------------- */

static int act(const char *argument) {
    if (!strcmp(argument, "from the start")) confine(0);
    if (!strcmp(argument, "spinning")) {
        confine_beside_a_spinning_worker();
        return 0;
    }
    if (!strcmp(argument, "warm")) {
        compute_all();
        confine(0);
    }
    if (!strcmp(argument, "all")) {
        compute_all();
        pause_ms(100); /* now no worker is in a system call of its own */
        confine(SECCOMP_FILTER_FLAG_TSYNC);
    }
    compute_all();
    return 0;
}

int main(int count, char **arguments) {
    static const char *const programs[] = {"from the start", "warm", "all"};
    /* A container's filter hides the filter that this test adds. */
    if (filtered()) return TEST_SKIPPED;
    if (count > 1) return act(arguments[1]);
    test_limit(60);
    /* The threads of GHC's runtime system make other system calls. */
    for (int i = 0; i < (on_rts() ? 1 : 3); i++) {
        struct child child = run_child(programs[i], NULL);
        EXPECT_EXIT(child, 0);
    }
    for (int i = 0; i < (on_rts() ? 0 : 5); i++) {
        struct child child = run_child("spinning", NULL);
        EXPECT_EXIT(child, 0);
    }
    traits_are_the_masters();
    filters_stay_with_their_threads();
    return 0;
}
