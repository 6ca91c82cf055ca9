/* The first call of a thread, and of a process, needs nothing that its caller may lack. Queries
 * allocate nothing and take no lock, as a signal handler may make them. A region needs little of
 * the caller's stack. No file is opened then, as the program may have given up that right.
 *
 * test: not stock libgomp's first region reads files of /proc and /sys
 */
#define _GNU_SOURCE
#include "process.h"
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <omp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* --- queries ---------------------------------------------------------------------------------- */

static void ask(void) {
    omp_sched_t kind;
    int chunk, places[64];
    CHECK_EQ(omp_get_thread_num(), 0);
    CHECK_EQ(omp_get_num_threads(), 1);
    CHECK_EQ(omp_in_parallel(), 0);
    CHECK_EQ(omp_get_level(), 0);
    CHECK_EQ(omp_get_active_level(), 0);
    CHECK_EQ(omp_get_ancestor_thread_num(0), 0);
    CHECK_EQ(omp_get_ancestor_thread_num(1), -1);
    CHECK_EQ(omp_get_team_size(0), 1);
    CHECK_EQ(omp_get_team_size(1), -1);
    CHECK_EQ(omp_get_team_num(), 0);
    CHECK_EQ(omp_get_num_teams(), 1);
    CHECK_EQ(omp_in_final(), 0);
    CHECK_EQ(omp_get_max_threads(), 3);
    CHECK_EQ(omp_get_dynamic(), 0);
    CHECK_EQ(omp_get_max_active_levels(), 2);
    CHECK(omp_get_thread_limit() > 3);
    CHECK(omp_get_num_procs() > 0);
    CHECK(omp_get_wtime() > 0);
    CHECK_EQ(omp_get_cancellation(), 0);
    CHECK_EQ(omp_get_default_device(), 0);
    CHECK_EQ(omp_get_default_allocator(), omp_default_mem_alloc);
    omp_get_schedule(&kind, &chunk);
    CHECK_EQ(kind, omp_sched_guided);
    CHECK_EQ(chunk, 5);
    if (omp_get_num_places() == 0) CHECK_EQ(omp_get_place_num(), -1);
    if (omp_get_partition_num_places() < 64) omp_get_partition_place_nums(places);
    CHECK(omp_get_proc_bind() >= omp_proc_bind_false);
}

static size_t allocated(void) {
    return mallinfo2().uordblks;
}

static void *asks_and_computes(void *unused) {
    int count = 0;
    ask(); /* lets the C library allocate what it needs at the first use */
    size_t before = allocated();
    for (int i = 0; i < 100; i++) ask();
    CHECK_EQ(allocated(), before);
#pragma omp parallel reduction(+ : count)
    {
        CHECK_EQ(omp_get_level(), 1);
        count++;
    }
    CHECK_EQ(count, 3);
    ask();
    return unused;
}

/* A query before the thread's first region makes no record of the thread. All threads live at once,
 * so none can reuse the record of an earlier thread. */
static void *asks_alone(void *before) {
    pthread_barrier_t *barrier = before;
    pthread_barrier_wait(barrier);
    ask();
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    return NULL;
}

static void questions_allocate_nothing(void) {
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    pthread_barrier_t barrier;
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS + 1) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, asks_alone, &barrier) == 0);
    struct mallinfo2 before = mallinfo2();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    struct mallinfo2 after = mallinfo2();
    CHECK_EQ(after.uordblks, before.uordblks);
    CHECK_EQ(after.arena, before.arena);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

/* --- stacks ----------------------------------------------------------------------------------- */

static size_t at_least(size_t size, size_t least) {
    return size > least ? size : least;
}

static void in_thread(void *(*function)(void *), size_t stack_size) {
    pthread_t thread;
    pthread_attr_t attributes;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, stack_size) == 0);
    CHECK(pthread_create(&thread, &attributes, function, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void *computes(void *unused) {
    int count = 0;
#pragma omp parallel reduction(+ : count)
    count++;
    CHECK_EQ(count, 3);
    return unused;
}

/* --- confinement ------------------------------------------------------------------------------ */

/* From now on an attempt to open a file ends the process. */
static void confine(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 2, 0),
#ifdef SYS_open
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 1, 0),
#else
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
#endif
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) _exit(TEST_SKIPPED);
}

/* The first acts of the child. */
static int act(const char *argument) {
    if (!strcmp(argument, "small stack"))
        in_thread(computes, at_least(32 * 1024, PTHREAD_STACK_MIN));
    if (!strcmp(argument, "smallest stack")) in_thread(computes, PTHREAD_STACK_MIN);
    if (!strcmp(argument, "confined")) {
        confine();
        computes(NULL);
    }
    if (!strcmp(argument, "confined thread")) {
        confine();
        in_thread(computes, at_least(64 * 1024, PTHREAD_STACK_MIN));
        computes(NULL);
    }
    return 0;
}

int main(int count, char **arguments) {
    static const char *const settings[] = {"OMP_NUM_THREADS=3", "OMP_SCHEDULE=guided,5",
                                           "OMP_MAX_ACTIVE_LEVELS=2", NULL};
    if (count == 1) {
        for (int i = 0; settings[i]; i++) putenv((char *)(size_t)settings[i]);
        execl("/proc/self/exe", arguments[0], "all", (char *)NULL);
        return 126;
    }
    if (strcmp(arguments[1], "all") != 0) return act(arguments[1]);
    test_limit(60);
    questions_allocate_nothing();
    in_thread(asks_and_computes, 256 * 1024);
    static const char *const children[] = {"small stack", "smallest stack", "confined",
                                           "confined thread"};
    for (int i = 0; i < 4; i++) {
        /* In a process that is already confined, nothing keeps GHC's libraries from loading. */
        if (i >= 2 && on_rts() && prctl(PR_GET_SECCOMP) != 0) continue;
        struct child child = run_child(children[i], NULL);
        if (i >= 2 && WIFEXITED(child.status) && WEXITSTATUS(child.status) == TEST_SKIPPED)
            continue;
        EXPECT_EXIT(child, 0);
    }
    return 0;
}
