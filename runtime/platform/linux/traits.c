/* Properties that a thread inherits from its maker; see cst_thread_traits in platform.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "platform/linux/attributes.h"
#include "platform/platform.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/kcmp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

void cst_thread_traits_get(struct cst_thread_traits *traits) {
    pthread_sigmask(SIG_SETMASK, NULL, &traits->blocked);
    traits->processors = cst_cpu_mask_get_own(traits->mask, CST_CPU_MASK_WORDS);
}

static uint64_t scheduling(void) {
    struct cst_sched_attributes own = {.size = sizeof own};
    if (syscall(SYS_sched_getattr, 0, &own, sizeof own, 0) != 0) return 0;
    return (uint64_t)own.policy << 32 | (uint64_t)(uint8_t)own.priority << 8 | (uint8_t)own.nice;
}

static void get_capabilities(uint64_t *word) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct half[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capget, &header, half) != 0) return;
    word[CST_CLASS_EFFECTIVE] = (uint64_t)half[1].effective << 32 | half[0].effective;
    word[CST_CLASS_PERMITTED] = (uint64_t)half[1].permitted << 32 | half[0].permitted;
    word[CST_CLASS_INHERITABLE] = (uint64_t)half[1].inheritable << 32 | half[0].inheritable;
}

/* Does the thread have a working folder or a table of open files of its own, not shared with the
 * first thread? False if the kernel does not tell. */
static bool is_apart(int32_t self) {
    pid_t first = getpid();
    return first != self && (syscall(SYS_kcmp, first, self, KCMP_FS, 0, 0) > 0 ||
                             syscall(SYS_kcmp, first, self, KCMP_FILES, 0, 0) > 0);
}

struct cst_thread_class cst_thread_class_get(void) {
    struct cst_thread_class class = {.word = {[CST_CLASS_OWN] = true}};
    if (cst_confined_self()) return class; /* the calls below may be forbidden */
    int saved = errno;
    int32_t self = cst_thread_id();
    class.word[CST_CLASS_SCHEDULING] = scheduling();
    class.word[CST_CLASS_DISKS] = (uint64_t)syscall(SYS_ioprio_get, 1 /* a thread */, 0);
    class.word[CST_CLASS_TIMERS] = (uint64_t)syscall(SYS_prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0);
    get_capabilities(class.word);
    class.word[CST_CLASS_OWN] = is_apart(self);
    errno = saved;
    return class;
}

bool cst_thread_traits_same(const struct cst_thread_traits *a, const struct cst_thread_traits *b) {
    return a->processors == b->processors && memcmp(a->mask, b->mask, sizeof a->mask) == 0 &&
           memcmp(&a->blocked, &b->blocked, sizeof a->blocked) == 0;
}

void cst_thread_traits_adopt(const struct cst_thread_traits *wanted, bool processors) {
    pthread_sigmask(SIG_SETMASK, &wanted->blocked, NULL);
    if (!processors || wanted->processors == 0) return;
    uint64_t now[CST_CPU_MASK_WORDS];
    if (cst_cpu_mask_get_own(now, CST_CPU_MASK_WORDS) == wanted->processors &&
        memcmp(now, wanted->mask, sizeof now) == 0)
        return;
    /* If the kernel refuses (the processors went offline), the thread keeps its mask. */
    (void)cst_cpu_mask_set_own(wanted->mask, CST_CPU_MASK_WORDS);
}

void cst_thread_block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}
