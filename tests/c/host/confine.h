/* A system call filter that forbids nothing. The runtime does without membarrier(2) and others all
 * the same, as a filter's rules cannot be read. */
#ifndef HOST_CONFINE_H
#define HOST_CONFINE_H

#include "testing.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

static void confine_loosely(void) {
    struct sock_filter filter[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {1, filter};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

#endif
