/* Sleeping and waking through the kernel: futex(2), private to the process. */
#include "platform/platform.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The kernel takes the address of the plain word under the atomic. */
_Static_assert(sizeof(_Atomic uint32_t) == 4, "a futex is four bytes");

/* Returns 0 or an errno value; a host program must not see errno change under a barrier. */
static int futex(_Atomic uint32_t *word, int operation, uint32_t value,
                 const struct timespec *timeout) {
    int saved = errno;
    long result = syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
    int error = result < 0 ? errno : 0;
    errno = saved;
    return error;
}

void cst_futex_wait(_Atomic uint32_t *word, uint32_t expected) {
    futex(word, FUTEX_WAIT, expected, NULL);
}

bool cst_futex_wait_for(_Atomic uint32_t *word, uint32_t expected, uint64_t ns) {
    /* FUTEX_WAIT takes a span of monotonic time. */
    struct timespec span = {.tv_sec = (time_t)(ns / 1000000000u),
                            .tv_nsec = (long)(ns % 1000000000u)};
    return futex(word, FUTEX_WAIT, expected, &span) != ETIMEDOUT;
}

int cst_futex_wake(_Atomic uint32_t *word, int count) {
    int saved = errno;
    long woken = syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, NULL, NULL, 0);
    errno = saved;
    return woken > 0 ? (int)woken : 0;
}

void cst_yield_again(void) {
    static _Atomic uint32_t nothing;
    enum { NAP_NS = 1000 }; /* the kernel adds some time */
    if (cst_confined()) {
        cst_futex_wait_for(&nothing, 0, NAP_NS);
        return;
    }
    /* Not sched_yield(3), which would map another part of libc; futexes need syscall(2) anyway. The
     * call cannot fail, so errno stays. */
    syscall(SYS_sched_yield);
}

void cst_yield(void) {
    (void)cst_confined_now();
    cst_yield_again();
}
