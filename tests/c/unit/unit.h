/* Shared by the unit tests here. A test program is `unit_<module>.c`. It includes the headers of
 * the module, and is linked with the runtime's archive, or with the few sources that its first
 * comment names. It prints `ok NAME` or `FAIL NAME` for each case. It exits with 1 if a case
 * failed, and with 77 if it could not run. A failed check ends its case, not the program. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct unit_state {
    jmp_buf out;
    int failures;
};

/* The state of the program. The cases run in the main thread, and so must the checks. */
static struct unit_state unit_state;

#define UNIT_STOP(...)                                                                             \
    (printf("# %s:%d: ", __FILE__, __LINE__), printf(__VA_ARGS__), printf("\n"),                   \
     longjmp(unit_state.out, 1))

#define UNIT_CHECK(condition) ((condition) ? (void)0 : UNIT_STOP("not true: %s", #condition))

/* Compares both sides as long long. */
#define UNIT_EQUAL(found, expected)                                                                \
    do {                                                                                           \
        long long unit_found = (long long)(found), unit_expected = (long long)(expected);          \
        if (unit_found != unit_expected)                                                           \
            UNIT_STOP("%s is %lld, expected %lld", #found, unit_found, unit_expected);             \
    } while (0)

#define UNIT_TEXT(found, expected)                                                                 \
    do {                                                                                           \
        const char *unit_found = (found), *unit_expected = (expected);                             \
        if (strcmp(unit_found, unit_expected) != 0)                                                \
            UNIT_STOP("%s is \"%s\", expected \"%s\"", #found, unit_found, unit_expected);         \
    } while (0)

static void unit_run(const char *name, void (*test)(void)) {
    if (setjmp(unit_state.out) == 0) {
        test();
        printf("ok %s\n", name);
    } else {
        printf("FAIL %s\n", name);
        unit_state.failures++;
    }
    fflush(stdout);
}

#define UNIT_RUN(test) unit_run(#test, test)

/* The whole program must end within `seconds`. */
__attribute__((unused)) static void unit_limit(unsigned seconds) {
    const char *factor = getenv("TEST_TIME_FACTOR");
    alarm(seconds * (factor && atoi(factor) > 0 ? (unsigned)atoi(factor) : 1));
}

static int unit_result(void) {
    return unit_state.failures > 0;
}

#endif
