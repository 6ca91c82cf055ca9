/* If threads are not available, the team is smaller, with one warning, and the program goes on. The
 * causes are limits on processes or on the address space, and absurd numbers. GCC's runtime ends
 * the process.
 * test: not stock libgomp exits with status 1
 * test: alone
 * test: not qemu the test becomes another user, whom the namespace does not have
 */
#define _GNU_SOURCE
#include "process.h"
#include <grp.h>
#include <omp.h>
#include <sys/resource.h>

enum { SOME_USER = 54321 };

static void limit(int which, rlim_t value) {
    struct rlimit now;
    getrlimit(which, &now);
    now.rlim_cur = value;
    CHECK(setrlimit(which, &now) == 0);
}

static void few_processes(rlim_t most) {
    limit(RLIMIT_NPROC, most);
    CHECK(setgroups(0, NULL) == 0 && setgid(SOME_USER) == 0 && setuid(SOME_USER) == 0);
}

/* GHC's runtime system needs some threads before the first team: it may be refused, or get none. */
static void three_processes(void) {
    few_processes(3);
}
static void seven_processes(void) {
    few_processes(7);
}
static void hundred_processes(void) {
    few_processes(100);
}
static void one_process(void) {
    few_processes(1);
}

static void little_memory(void) {
    limit(RLIMIT_STACK, 8 << 20);
    limit(RLIMIT_AS, (rlim_t)100 << 20);
}

/* A region works with any size that it got. */
static int region(int asked) {
    int size = 0, count = 0, sum = 0, tasks = 0;
#pragma omp parallel num_threads(asked)
    {
        if (omp_get_thread_num() == 0) size = omp_get_num_threads();
        INCREMENT(&count);
#pragma omp barrier
        CHECK_EQ(GET(&count), omp_get_num_threads());
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < 200; i++) INCREMENT(&sum);
#pragma omp task shared(tasks)
        INCREMENT(&tasks);
#pragma omp barrier
        CHECK_EQ(GET(&tasks), GET(&count));
    }
    CHECK_EQ(sum, 200);
    CHECK_EQ(count, size);
    return size;
}

static int lines(const char *text) {
    int count = 0;
    for (; *text; text++) count += *text == '\n';
    return count;
}

/* The child opens some regions that want too many threads, and a region of one. */
static void want(int asked, int most) {
    for (int round = 0; round < 5; round++) {
        int size = region(asked);
        if (size < 1 || size > most) fprintf(stderr, "team of %d\n", size);
        CHECK(size >= 1 && size <= most);
    }
    CHECK_EQ(region(1), 1);
}

/* When the limit is gone, its effect is gone too. */
static void want_then_recover(void) {
    CHECK(region(8) < 8);
    struct rlimit now;
    getrlimit(RLIMIT_NPROC, &now);
    now.rlim_cur = now.rlim_max;
    CHECK(setrlimit(RLIMIT_NPROC, &now) == 0);
    CHECK_EQ(region(8), 8);
}

static void absurd_default(void) {
    CHECK(omp_get_max_threads() > 1000);
    int size = 0;
#pragma omp parallel
    {
#pragma omp single
        size = omp_get_num_threads();
    }
    CHECK(size >= 1 && size <= 100);
}

static void in_child(const char *what) {
    alarm(30);
    if (!strcmp(what, "eight of three")) want(8, 3);
    if (!strcmp(what, "eight of seven")) want(8, 7);
    if (!strcmp(what, "eight of one")) want(8, 1);
    if (!strcmp(what, "sixteen in little memory")) want(16, 15);
    if (!strcmp(what, "hundred thousand")) want(100000, 100);
    if (!strcmp(what, "absurd default")) absurd_default();
    if (!strcmp(what, "recover")) want_then_recover();
}

static void expect(const char *what, const struct child_options *options) {
    struct child child = run_child(what, options);
    EXPECT_EXIT(child, 0);
    /* The child writes one warning, which names the call or variable, and none for each region. */
    if (lines(child.output) < 1 || lines(child.output) > 2 || strlen(child.output) < 20)
        fprintf(stderr, "\"%s\" wrote: %s\n", what, child.output);
    CHECK(lines(child.output) >= 1 && lines(child.output) <= 2);
    CHECK(strlen(child.output) >= 20);
}

int main(int count, char **arguments) {
    if (count > 1) {
        in_child(arguments[1]);
        return 0;
    }
    test_limit(58);
    if (geteuid() != 0) test_skip("needs root, to become a user with a limit of its own");
    expect("eight of three", &(struct child_options){.prepare = three_processes});
    expect("eight of seven", &(struct child_options){.prepare = seven_processes});
    expect("eight of one", &(struct child_options){.prepare = one_process});
    expect("sixteen in little memory",
           &(struct child_options){.prepare = little_memory, .environment = {"OMP_STACKSIZE=16M"}});
    expect("recover", &(struct child_options){.prepare = three_processes});
    expect("hundred thousand", &(struct child_options){.prepare = hundred_processes});
    expect("absurd default", &(struct child_options){.prepare = hundred_processes,
                                                     .environment = {"OMP_NUM_THREADS=4000000"}});
    return 0;
}
