/* A construct that finds no memory ends the process by exit, with a message and status 1. The exit
 * functions run once, although other threads find no memory at the same time, and whatever the
 * functions do.
 *
 * test: not stock two threads run its exit functions
 */
#include "process.h"
#include <omp.h>
#include <pthread.h>

static int only_masters;

/* A doacross loop keeps a cache line for each of its outer iterations. An exit function runs in a
 * thread of a region, so this region is an inner region; several levels may be active. */
static void take_too_much(void) {
    const long too_many = 1L << 44;
    omp_set_max_active_levels(8);
#pragma omp parallel num_threads(2)
    {
        if (only_masters && omp_get_thread_num() != 0) pause();
#pragma omp for ordered(1) schedule(dynamic, 1)
        for (long i = 0; i < too_many; i++) {
#pragma omp ordered depend(sink : i - 1)
#pragma omp ordered depend(source)
        }
    }
}

/* If a worker found no memory first, its master would wait for it, and so would the exit. */
static void take_too_much_at_exit(void) {
    only_masters = 1;
    take_too_much();
}

static void say(void) {
    puts("exit function");
    fflush(stdout);
}

static void *master(void *data) {
    (void)data;
    take_too_much();
    return NULL;
}

static pthread_t other;
static int may_start;

static void *late_master(void *data) {
    AWAIT(&may_start, 1);
    return master(data);
}

/* The other thread will never end. */
static void wait_for_other(void) {
    SET(&may_start, 1);
    pthread_join(other, NULL);
}

static void in_child(const char *what) {
    atexit(say);
    if (!strcmp(what, "at exit")) atexit(take_too_much_at_exit);
    if (!strcmp(what, "each other")) {
        CHECK(pthread_create(&other, NULL, late_master, NULL) == 0);
        atexit(wait_for_other);
    }
    if (!strcmp(what, "many")) {
        enum { MASTERS = 8 };
        pthread_t thread[MASTERS];
        for (int i = 0; i < MASTERS; i++)
            CHECK(pthread_create(&thread[i], NULL, master, NULL) == 0);
        for (int i = 0; i < MASTERS; i++) pthread_join(thread[i], NULL);
    } else {
        take_too_much();
    }
    _exit(3);
}

static int count(const char *text, const char *part) {
    int found = 0;
    while ((text = strstr(text, part))) {
        found++;
        text += strlen(part);
    }
    return found;
}

static void expect(const char *what, int exit_functions) {
    struct child child = run_child(what, NULL);
    EXPECT_EXIT(child, 1);
    if (count(child.output, "exit function") != exit_functions)
        fprintf(stderr, "%s: it wrote: %s\n", what, child.output);
    CHECK_EQ(count(child.output, "exit function"), exit_functions);
    CHECK(strstr(child.output, "libgomp: Out of memory allocating ") != NULL);
}

int main(int argument_count, char **arguments) {
    if (argument_count > 1) {
        in_child(arguments[1]);
        return 0;
    }
    test_limit(58);
    expect("one", 1);
    expect("many", 1);
    expect("at exit", 1);
    expect("each other", 0); /* no thread waits for the thread in the exit function */
    return 0;
}
