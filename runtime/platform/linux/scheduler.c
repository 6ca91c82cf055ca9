/* Services of the kernel's scheduler: membarrier(2), sched_setattr(2), getrusage(2). */
#include "platform/linux/attributes.h"
#include "platform/platform.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/resource.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long membarrier(int command) {
    return syscall(SYS_membarrier, command, 0, 0);
}

void cst_process_barrier_prepare(void) {
#if __has_include(<sys/single_threaded.h>)
    int saved = errno;
    if (__libc_single_threaded) membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    errno = saved;
#endif
}

bool cst_process_barrier(void) {
    if (cst_confined_now()) return false;
    int saved = errno;
    bool done = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
    /* A process, and the child of a fork, must register before its first use. */
    if (!done && errno == EPERM && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0)
        done = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
    errno = saved;
    return done;
}

uint64_t cst_thread_ask_turns(uint64_t ns) {
    if (cst_confined_now()) return 0;
    int saved = errno;
    struct cst_sched_attributes own = {.size = sizeof own};
    uint64_t before = 0;
    /* The meaning of `runtime` depends on the policy. */
    if (syscall(SYS_sched_getattr, 0, &own, sizeof own, 0) == 0 &&
        (own.policy == SCHED_OTHER || own.policy == SCHED_BATCH)) {
        before = own.runtime;
        own.runtime = ns;
        syscall(SYS_sched_setattr, 0, &own, 0);
    }
    errno = saved;
    return before;
}

/* Zeros if the kernel does not know RUSAGE_THREAD. */
static struct rusage thread_usage(void) {
    struct rusage usage;
    int saved = errno;
    if (getrusage(RUSAGE_THREAD, &usage) != 0) usage = (struct rusage){0};
    errno = saved;
    return usage;
}

/* The processor time in rusage is as of the last tick of the scheduler, milliseconds ago. The
 * thread's clock is exact. */
struct cst_thread_usage cst_thread_usage(void) {
    if (cst_confined()) return (struct cst_thread_usage){0};
    struct rusage usage = thread_usage();
    struct timespec used = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (struct cst_thread_usage){
        .cpu_ns = (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec,
        .voluntary_switches = (uint64_t)usage.ru_nvcsw,
        .involuntary_switches = (uint64_t)usage.ru_nivcsw,
    };
}

/* The kernel keeps the list of a thread's robust mutexes. The C library passes its head as the
 * thread begins, and the kernel drops it as the thread ends. So the answer needs no /proc. */
bool cst_thread_main_has_ended(void) {
    if (cst_confined_now()) return false;
    int saved = errno;
    void *head = NULL;
    size_t length = 0;
    bool told = syscall(SYS_get_robust_list, getpid(), &head, &length) == 0;
    errno = saved;
    return told && !head;
}
