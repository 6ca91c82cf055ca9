/* watch.c: a seccomp listener that counts calls for memory, and threads. See watch.h.
 *
 * The listener is a plain thread that itself makes no watched call. It holds no lock, so a thread
 * that waits for its answer cannot be waiting for itself. Only the listener writes the counts,
 * before it lets a call go on. The kernel wakes the caller after that, so the caller sees them.
 */
#include "watch.h"

#include "counters.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_TSYNC_ESRCH
#define SECCOMP_FILTER_FLAG_TSYNC_ESRCH (1UL << 4)
#endif

enum { MAPS, MAP_BYTES, UNMAPS, UNMAP_BYTES, GROWS, TRIMS, DISCARDS, HEAP_MAPS, COUNTS };

static _Atomic uint64_t counts[COUNTS];
static _Atomic int least_threads, most_threads; /* at the making of a thread, including it */
static sem_t installed;
static int listener = -1;

static void count(int what, uint64_t by) {
    atomic_fetch_add_explicit(&counts[what], by, memory_order_relaxed);
}

static void count_map(const __u64 *args) {
    const uint64_t length = args[1], flags = args[3], megabyte = 1u << 20;
    if (!(flags & MAP_ANONYMOUS)) return;
    if (args[0] != 0 && length % megabyte == 0) {
        count(HEAP_MAPS, 1);
        return;
    }
    count(MAPS, 1);
    /* Memory that no thread may access is only reserved: now and then malloc reserves 128 MiB for
     * another thread's heap. These bytes would hide the sizes of all other mappings. */
    if (args[2] != PROT_NONE) count(MAP_BYTES, length);
}

/* Counts a thread that is about to be made, if the flags of the call say so. */
static void count_thread(uint64_t flags) {
    if (!(flags & CLONE_THREAD)) return;
    int now = cst_bench_threads() + 1,
        least = atomic_load_explicit(&least_threads, memory_order_relaxed);
    if (least == 0 || now < least) atomic_store_explicit(&least_threads, now, memory_order_relaxed);
    if (now > atomic_load_explicit(&most_threads, memory_order_relaxed))
        atomic_store_explicit(&most_threads, now, memory_order_relaxed);
}

static void count_call(const struct seccomp_data *call) {
    static uint64_t end_of_heap;
    switch (call->nr) {
    case SYS_mmap:
        count_map(call->args);
        break;
    case SYS_mremap:
        count(MAPS, 1);
        count(MAP_BYTES, call->args[2]);
        break;
    case SYS_munmap:
        count(UNMAPS, 1);
        count(UNMAP_BYTES, call->args[1]);
        break;
    case SYS_mprotect:
        if (call->args[2] & PROT_WRITE) count(GROWS, 1);
        break;
    case SYS_brk:
        if (call->args[0] == 0) break;
        if (end_of_heap != 0) count(call->args[0] > end_of_heap ? GROWS : TRIMS, 1);
        end_of_heap = call->args[0];
        break;
    case SYS_madvise:
        if (call->args[2] == MADV_DONTNEED || call->args[2] == MADV_FREE) count(DISCARDS, 1);
        break;
    case SYS_clone:
        count_thread(call->args[0]);
        break;
    case SYS_clone3: /* the flags come first in its structure, which is in our own memory */
        count_thread(*(const uint64_t *)(uintptr_t)call->args[0]);
        break;
    default:
        break;
    }
}

/* Whether a thread belongs to this process. Processes that a benchmark starts inherit the filter,
 * but their calls do not count. */
static int is_ours(pid_t thread) {
    return syscall(SYS_tgkill, getpid(), thread, 0) == 0;
}

/* Large enough for the structures of any kernel, which grow only at the end. */
union notice {
    struct seccomp_notif fields;
    char room[512];
};
union answer {
    struct seccomp_notif_resp fields;
    char room[512];
};

static void *listen_for_calls(void *unused) {
    (void)unused;
    while (sem_wait(&installed) != 0) continue;
    for (;;) {
        union notice notice;
        union answer answer;
        memset(&notice, 0, sizeof notice);
        memset(&answer, 0, sizeof answer);
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notice) != 0) {
            if (errno == EINTR || errno == ENOENT) continue;
            return NULL;
        }
        if (is_ours(notice.fields.pid)) count_call(&notice.fields.data);
        answer.fields.id = notice.fields.id;
        answer.fields.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}

#define WATCH(call)                                                                                \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1),                                             \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)

static int install(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        WATCH(SYS_mmap),
        WATCH(SYS_mremap),
        WATCH(SYS_munmap),
        WATCH(SYS_mprotect),
        WATCH(SYS_brk),
        WATCH(SYS_madvise),
        WATCH(SYS_clone),
        WATCH(SYS_clone3),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                        SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC |
                            SECCOMP_FILTER_FLAG_TSYNC_ESRCH,
                        &program);
}

int cst_bench_watch(void) {
    pthread_t thread;
    sigset_t all, before;
    if (sem_init(&installed, 0, 0) != 0) return errno;
    /* The listener takes no signal of the program, as a handler might ask for memory. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, NULL, listen_for_calls, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) return failed;
    pthread_detach(thread);
    listener = install();
    int problem = listener < 0 ? errno : 0;
    sem_post(&installed); /* publishes listener; without one the thread ends */
    return problem;
}

void cst_bench_calls(struct calls *calls) {
    double value[COUNTS];
    for (int i = 0; i < COUNTS; i++)
        value[i] = (double)atomic_load_explicit(&counts[i], memory_order_relaxed);
    *calls = (struct calls){
        .maps = value[MAPS],
        .map_bytes = value[MAP_BYTES],
        .unmaps = value[UNMAPS],
        .unmap_bytes = value[UNMAP_BYTES],
        .grows = value[GROWS],
        .trims = value[TRIMS],
        .discards = value[DISCARDS],
        .heap_maps = value[HEAP_MAPS],
    };
}

int cst_bench_most_threads(void) {
    int most = atomic_load_explicit(&most_threads, memory_order_relaxed);
    return most == 0 ? 0 : most - atomic_load_explicit(&least_threads, memory_order_relaxed) + 1;
}
