/* The monotonic clock. A read goes through the vDSO, without a system call on common machines. */
#include "platform/platform.h"

#include <time.h>

static uint64_t nanoseconds(const struct timespec *time) {
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

uint64_t cst_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return nanoseconds(&now);
}

uint64_t cst_clock_resolution_ns(void) {
    struct timespec step;
    clock_getres(CLOCK_MONOTONIC, &step);
    return nanoseconds(&step);
}

uint64_t cst_clock_coarse_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return nanoseconds(&now);
}
