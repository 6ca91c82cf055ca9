/* Every way to end a process ends it, at once and with its status, whether workers sleep, spin or
 * compute; exit handlers run, and may open regions.
 */
#define _GNU_SOURCE
#include "process.h"
#include <omp.h>
#include <pthread.h>

static void region(void) {
    int count = 0;
#pragma omp parallel num_threads(4)
    {
        INCREMENT(&count);
#pragma omp barrier
        CHECK_EQ(GET(&count), 4);
    }
}

static void say_bye(void) {
    region();
    if (write(1, "bye", 3) != 3) _exit(99);
}

static void *linger(void *unused) {
    pause_ms(30);
    region();
    if (write(1, "lingered", 8) != 8) _exit(99);
    return unused;
}

static void *end_by_pthread_exit(void *unused) {
    region();
    pthread_exit(unused);
}

static int act(const char *way) {
    pthread_t thread;
    region();
    if (!strcmp(way, "return")) return 41;
    if (!strcmp(way, "handlers")) {
        atexit(say_bye);
        return 42;
    }
    if (!strcmp(way, "exit")) exit(43);
    if (!strcmp(way, "_exit")) _exit(44);
    if (!strcmp(way, "quick_exit")) quick_exit(45);
    if (!strcmp(way, "abort")) abort();
    if (!strcmp(way, "master")) {
#pragma omp parallel num_threads(4)
        {
#pragma omp master
            exit(46);
            pause_ms(1);
        }
    }
    if (!strcmp(way, "master alone")) {
#pragma omp parallel num_threads(4)
        {
#pragma omp master
            exit(47);
#pragma omp barrier
        }
    }
    if (!strcmp(way, "worker")) {
#pragma omp parallel num_threads(4)
        {
            if (omp_get_thread_num() == 2) exit(48);
#pragma omp barrier
        }
    }
    if (!strcmp(way, "busy")) {
#pragma omp parallel num_threads(4)
        {
            if (omp_get_thread_num() == 0) _exit(49);
            for (volatile int forever = 1; forever;) continue;
        }
    }
    if (!strcmp(way, "task")) {
#pragma omp parallel num_threads(2)
#pragma omp single
        {
#pragma omp task
            exit(50);
#pragma omp taskwait
        }
    }
    if (!strcmp(way, "pthread_exit")) {
        /* The main thread ends first; the process goes on until the other thread ends. */
        CHECK(pthread_create(&thread, NULL, linger, NULL) == 0);
        pthread_exit(NULL);
    }
    if (!strcmp(way, "other master")) {
        CHECK(pthread_create(&thread, NULL, end_by_pthread_exit, NULL) == 0);
        pthread_join(thread, NULL);
        region();
        return 51;
    }
    if (!strcmp(way, "at once")) return 52; /* workers may still spin */
    return 1;
}

static void expect(const char *way, int status, const char *output) {
    for (int round = 0; round < 8; round++) {
        struct child child = run_child(way, NULL);
        if (!WIFEXITED(child.status) || strcmp(child.output, output))
            fprintf(stderr, "way \"%s\": status 0x%x, output \"%s\"\n", way, (unsigned)child.status,
                    child.output);
        EXPECT_EXIT(child, status);
        CHECK(!strcmp(child.output, output));
    }
}

int main(int count, char **arguments) {
    if (count > 1) {
        alarm(20);
        return act(arguments[1]);
    }
    test_limit(58);
    expect("return", 41, "");
    expect("handlers", 42, "bye");
    expect("exit", 43, "");
    expect("_exit", 44, "");
    expect("quick_exit", 45, "");
    expect("master", 46, "");
    expect("master alone", 47, "");
    expect("worker", 48, "");
    expect("busy", 49, "");
    expect("task", 50, "");
    expect("pthread_exit", 0, "lingered");
    expect("other master", 51, "");
    expect("at once", 52, "");
    struct child child = run_child("abort", NULL);
    CHECK(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGABRT);
    return 0;
}
