/* System call filters of the calling thread, or of all threads. */
#ifndef HOST_CONFINE_H
#define HOST_CONFINE_H

#include "testing.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static void install_filter(struct sock_filter *filter, unsigned short length, unsigned flags) {
    struct sock_fprog program = {length, filter};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0);
}

/* Forbids one system call. An attempt ends the process. */
static void forbid(int call, unsigned flags) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    install_filter(filter, sizeof filter / sizeof *filter, flags);
}

/* Forbids a system call that no code makes. The runtime cannot read the rules of a filter, so it
 * avoids membarrier(2) and other calls all the same. */
__attribute__((unused)) static void confine_lightly(void) {
    forbid(SYS_swapoff, 0);
}

#endif
