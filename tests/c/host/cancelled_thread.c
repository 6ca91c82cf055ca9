/* A thread that opens the process's first region is cancelled meanwhile (pthread_cancel). A region
 * has no point at which a thread can be cancelled, so the thread ends after one, and other threads
 * open regions as before.
 *
 * test: flags -lpthread
 */
#define _GNU_SOURCE
#include "process.h"
#include <omp.h>
#include <pthread.h>

enum { TRIES = 24, STEP_US = 100, ITERATIONS = 1000 };

static long region(void) {
    long sum = 0;
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int i = 0; i < ITERATIONS; i++) sum += i;
    return sum;
}

static void *open_regions(void *unused) {
    (void)unused;
    for (;;) {
        CHECK_EQ(region(), ITERATIONS * (ITERATIONS - 1) / 2);
        pthread_testcancel();
    }
}

/* The library has been loaded, and has no thread yet. */
static int cancel_after(long microseconds) {
    test_limit(10);
    pthread_t thread;
    void *result = NULL;
    CHECK_EQ(pthread_create(&thread, NULL, open_regions, NULL), 0);
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK_EQ(pthread_join(thread, &result), 0);
    CHECK(result == PTHREAD_CANCELED);
    CHECK_EQ(region(), ITERATIONS * (ITERATIONS - 1) / 2);
    return 0;
}

int main(int count, char **arguments) {
    test_limit(100);
    if (count > 1) return cancel_after(strtol(arguments[1], NULL, 10));
    for (int i = 0; i < TRIES; i++) {
        char after[20];
        snprintf(after, sizeof after, "%d", i * STEP_US);
        struct child child = run_child(after, &(struct child_options){.seconds = 20});
        EXPECT_EXIT(child, 0);
    }
    return 0;
}
