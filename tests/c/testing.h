/* Shared by all test programs here: checks, a time limit, waiting.
 *
 * A failed check prints its place and its condition, and ends the process at once with status 1,
 * from any thread. SIGALRM ends a test that hangs. */
#ifndef TESTING_H
#define TESTING_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { TEST_SKIPPED = 77 };

#define CHECK(condition)                                                                           \
    ((condition) ? (void)0 : test_failed(__FILE__, __LINE__, __func__, #condition))

/* A failed check shows both sides, as long long. */
#define CHECK_EQ(found, expected)                                                                  \
    test_equal((long long)(found), (long long)(expected), __FILE__, __LINE__, __func__, #found,    \
               #expected)

__attribute__((noreturn, unused)) static void test_failed(const char *file, int line,
                                                          const char *function, const char *text) {
    fprintf(stderr, "%s:%d: %s: failed: %s\n", file, line, function, text);
    fflush(stderr);
    _exit(1);
}

__attribute__((unused)) static void test_equal(long long found, long long expected,
                                               const char *file, int line, const char *function,
                                               const char *found_text, const char *expected_text) {
    if (found == expected) return;
    fprintf(stderr, "%s:%d: %s: %s is %lld, not %s = %lld\n", file, line, function, found_text,
            found, expected_text, expected);
    fflush(stderr);
    _exit(1);
}

__attribute__((noreturn, unused)) static void test_skip(const char *reason) {
    printf("SKIP: %s\n", reason);
    fflush(stdout);
    _exit(TEST_SKIPPED);
}

/* The whole program must end within `seconds`. TEST_TIME_FACTOR stretches it for slow tools
 * (valgrind, sanitizers). */
__attribute__((unused)) static void test_limit(unsigned seconds) {
    const char *factor = getenv("TEST_TIME_FACTOR");
    alarm(seconds * (factor && atoi(factor) > 0 ? (unsigned)atoi(factor) : 1));
}

__attribute__((unused)) static void pause_ms(long milliseconds) {
    struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0) continue;
}

/* Waits until *flag has reached `value`, without a call of the runtime. */
#define AWAIT(flag, value)                                                                         \
    do {                                                                                           \
        while (__atomic_load_n((flag), __ATOMIC_ACQUIRE) < (value)) sched_yield();                 \
    } while (0)

#define SET(flag, value) __atomic_store_n((flag), (value), __ATOMIC_RELEASE)
#define GET(flag) __atomic_load_n((flag), __ATOMIC_ACQUIRE)
#define INCREMENT(counter) __atomic_add_fetch((counter), 1, __ATOMIC_ACQ_REL)
#define DECREMENT(counter) __atomic_sub_fetch((counter), 1, __ATOMIC_ACQ_REL)

#endif
