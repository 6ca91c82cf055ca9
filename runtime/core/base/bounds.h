/* Bounds on the numbers that a program, the environment or a file may ask for. Each number is
 * checked against its bound where it comes in, before other numbers are computed from it. */
#ifndef CST_CORE_BASE_BOUNDS_H
#define CST_CORE_BASE_BOUNDS_H

#include "platform/check.h"
#include "platform/platform.h"

enum {
    /* Threads: each thread has a process number, and Linux has none above 2^22. */
    CST_MOST_THREADS = 1 << 22,
    /* Processors that an affinity mask can name. */
    CST_MOST_PROCESSORS = 64 * CST_CPU_MASK_WORDS,
};

/* The number of threads that `what` (a clause or a call) asks for, or `otherwise` if no system can
 * have that number. The user is told of the first such request of the process. */
uint32_t cst_bounds_threads(const char *what, uint32_t asked, uint32_t otherwise);

#endif
