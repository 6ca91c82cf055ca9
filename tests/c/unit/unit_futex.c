/* platform/linux/futex.c: to sleep, to wake and to yield leaves errno unchanged, whatever the
 * kernel answers. Sources: platform/linux/futex.c. */
#include "unit.h"

#include "platform/platform.h"

#include <errno.h>

enum { UNTOUCHED = 4321 };

/* The kernel refuses (EAGAIN), as the word changed before the call. */
static void wait_for_what_has_been(void) {
    _Atomic uint32_t word = 1;
    errno = UNTOUCHED;
    cst_futex_wait(&word, 0);
    UNIT_EQUAL(errno, UNTOUCHED);
    UNIT_CHECK(cst_futex_wait_for(&word, 0, 1000000000));
    UNIT_EQUAL(errno, UNTOUCHED);
}

static void wait_until_time_is_over(void) {
    _Atomic uint32_t word = 1;
    errno = UNTOUCHED;
    UNIT_CHECK(!cst_futex_wait_for(&word, 1, 1000));
    UNIT_EQUAL(errno, UNTOUCHED);
}

static void wake_nobody_and_yield(void) {
    _Atomic uint32_t word = 1;
    errno = UNTOUCHED;
    cst_futex_wake(&word, 1);
    cst_yield();
    UNIT_EQUAL(errno, UNTOUCHED);
}

int main(void) {
    unit_limit(20);
    UNIT_RUN(wait_for_what_has_been);
    UNIT_RUN(wait_until_time_is_over);
    UNIT_RUN(wake_nobody_and_yield);
    return unit_result();
}
