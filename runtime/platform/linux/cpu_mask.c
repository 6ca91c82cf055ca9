/* The processors on which threads may run, and do run: affinity masks. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "platform/atomic.h"
#include "platform/platform.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t count_bits(const uint64_t *bits, size_t words) {
    size_t count = 0;
    for (size_t i = 0; i < words; i++) count += (size_t)cst_bits_set(bits[i]);
    return count;
}

size_t cst_cpu_mask_get(uint64_t *bits, size_t words) {
    int saved = errno;
    memset(bits, 0, words * sizeof *bits);
    /* pthread's call, as in libgomp: programs interpose it to choose the processors that OpenMP
     * sees. */
    bool known =
        pthread_getaffinity_np(pthread_self(), words * sizeof *bits, (cpu_set_t *)bits) == 0;
    errno = saved;
    return known ? count_bits(bits, words) : 0;
}

bool cst_cpu_mask_set(const uint64_t *bits, size_t words) {
    int saved = errno;
    bool done =
        pthread_setaffinity_np(pthread_self(), words * sizeof *bits, (const cpu_set_t *)bits) == 0;
    errno = saved;
    return done;
}

size_t cst_cpu_mask_get_own(uint64_t *bits, size_t words) {
    int saved = errno;
    memset(bits, 0, words * sizeof *bits);
    if (cst_confined_now()) return 0;
    bool known = syscall(SYS_sched_getaffinity, 0, words * sizeof *bits, bits) > 0;
    errno = saved;
    return known ? count_bits(bits, words) : 0;
}

size_t cst_cpu_process_mask(uint64_t *bits, size_t words) {
    int saved = errno;
    memset(bits, 0, words * sizeof *bits);
    bool known = syscall(SYS_sched_getaffinity, getpid(), words * sizeof *bits, bits) > 0;
    errno = saved;
    return known ? count_bits(bits, words) : 0;
}

unsigned cst_cpu_process_count(void) {
    uint64_t bits[CST_CPU_MASK_WORDS];
    size_t count = cst_cpu_process_mask(bits, CST_CPU_MASK_WORDS);
    return count ? (unsigned)count : 1;
}

bool cst_cpu_mask_set_own(const uint64_t *bits, size_t words) {
    if (cst_confined_now()) return false;
    int saved = errno;
    bool done = syscall(SYS_sched_setaffinity, 0, words * sizeof *bits, bits) == 0;
    errno = saved;
    return done;
}

/* Gets a thread's mask, by its number or 0 for the calling thread. If the thread may be moved away
 * from this processor, it removes that processor from the mask, sets *word to its word, and returns
 * its bit. Else it returns 0. */
static uint64_t leave_out_here(int32_t id, uint64_t *bits, uint64_t **word) {
    unsigned here = cst_cpu_current();
    memset(bits, 0, CST_CPU_MASK_WORDS * sizeof *bits);
    if (cst_confined_now()) return 0;
    long bytes = syscall(SYS_sched_getaffinity, id, CST_CPU_MASK_WORDS * sizeof *bits, bits);
    if (bytes <= 0 || here >= 64 * CST_CPU_MASK_WORDS) return 0;
    *word = &bits[here / 64];
    uint64_t bit = **word & 1ull << here % 64;
    **word ^= bit;
    return count_bits(bits, CST_CPU_MASK_WORDS) > 0 ? bit : 0;
}

void cst_cpu_part(pthread_t thread) {
    uint64_t bits[CST_CPU_MASK_WORDS], *word, bit;
    int saved = errno;
    if ((bit = leave_out_here(0, bits, &word)) != 0 &&
        pthread_setaffinity_np(thread, sizeof bits, (const cpu_set_t *)bits) == 0) {
        *word |= bit;
        pthread_setaffinity_np(thread, sizeof bits, (const cpu_set_t *)bits);
    }
    errno = saved;
}

void cst_cpu_part_woken(int32_t id) {
    uint64_t bits[CST_CPU_MASK_WORDS], *word, bit;
    int saved = errno;
    if ((bit = leave_out_here(id, bits, &word)) != 0 &&
        syscall(SYS_sched_setaffinity, id, sizeof bits, bits) == 0) {
        *word |= bit;
        syscall(SYS_sched_setaffinity, id, sizeof bits, bits);
    }
    errno = saved;
}

void cst_cpu_move(int32_t id, unsigned processor) {
    uint64_t mask[CST_CPU_MASK_WORDS] = {0}, one[CST_CPU_MASK_WORDS] = {0};
    if (processor >= 64 * CST_CPU_MASK_WORDS || cst_confined_now()) return;
    int saved = errno;
    uint64_t bit = one[processor / 64] = 1ull << processor % 64;
    bool may_run = syscall(SYS_sched_getaffinity, id, sizeof mask, mask) > 0 &&
                   (mask[processor / 64] & bit) != 0;
    if (may_run && syscall(SYS_sched_setaffinity, id, sizeof one, one) == 0)
        syscall(SYS_sched_setaffinity, id, sizeof mask, mask);
    errno = saved;
}

int32_t cst_thread_id(void) {
    if (cst_confined_now()) return 0;
    return (int32_t)syscall(SYS_gettid);
}

unsigned cst_cpu_current(void) {
    int processor = sched_getcpu();
    return processor < 0 ? 0 : (unsigned)processor;
}

bool cst_thread_is_main(void) {
    int32_t id = cst_thread_id();
    return id != 0 && id == getpid();
}

/* The number of words in a mask of this kernel. Programs ask for the count in loops, and to clear
 * and count a mask of the largest size takes longer than the kernel's part. Relaxed: all threads
 * find the same number. */
static size_t mask_words(void) {
    static _Atomic size_t known;
    size_t words = cst_load_relaxed(&known);
    if (words > 0) return words;
    uint64_t bits[CST_CPU_MASK_WORDS];
    int saved = errno;
    long bytes = syscall(SYS_sched_getaffinity, 0, sizeof bits, bits);
    errno = saved;
    words = bytes > 0 ? ((size_t)bytes + sizeof *bits - 1) / sizeof *bits : CST_CPU_MASK_WORDS;
    cst_store_relaxed(&known, words);
    return words;
}

unsigned cst_cpu_affinity_count(void) {
    uint64_t bits[CST_CPU_MASK_WORDS];
    size_t count = cst_cpu_mask_get(bits, mask_words());
    if (count == 0) {
        int saved = errno;
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        errno = saved;
        count = online > 0 ? (size_t)online : 1;
    }
    return (unsigned)count;
}
