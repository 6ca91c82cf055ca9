/* What a thread has from the one that made it: see cst_thread_traits in platform.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "platform/platform.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

void cst_thread_traits_get(struct cst_thread_traits *traits) {
    pthread_sigmask(SIG_SETMASK, NULL, &traits->blocked);
    traits->processors = cst_cpu_mask_get_own(traits->mask, CST_CPU_MASK_WORDS);
}

struct cst_thread_class cst_thread_class_get(void) {
    int saved = errno;
    struct sched_param parameters = {0};
    struct cst_thread_class class = {.nice = getpriority(PRIO_PROCESS, (id_t)cst_thread_id()),
                                     .policy = sched_getscheduler(0)};
    sched_getparam(0, &parameters);
    class.priority = parameters.sched_priority;
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
    /* A refusal (the processors went offline) leaves the thread where it may run. */
    (void)cst_cpu_mask_set_own(wanted->mask, CST_CPU_MASK_WORDS);
}

void cst_thread_block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}
