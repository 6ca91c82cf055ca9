/* System calls that the test program gives up. */
#define _GNU_SOURCE
#include "host/confine.h"

/* Forbids membarrier(2) for all threads. 0: a filter of a container would hide this one. */
int capstan_test_confine(void) {
    if (prctl(PR_GET_SECCOMP) != 0) return 0;
    forbid(SYS_membarrier, SECCOMP_FILTER_FLAG_TSYNC);
    return 1;
}
