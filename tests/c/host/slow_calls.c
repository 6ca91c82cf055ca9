/* Where each system call lasts long, as under a tracer, an idle worker still comes to the next
 * region. The worker asks for a filter of system calls before it yields, and repeats the question
 * if the answer took long.
 * test: env OMP_NUM_THREADS=4
 * test: env OMP_NUM_THREADS=4 OMP_WAIT_POLICY=active
 */
#include "process.h"
#include <omp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

static atomic_int asked;

static void spin_us(long us) {
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

/* Replaces the C library's: the runtime asks for a filter by it. */
long syscall(long number, ...) {
    static long (*next)(long, ...);
    unsigned long word[6];
    va_list words;
    va_start(words, number);
    for (int i = 0; i < 6; i++) word[i] = va_arg(words, unsigned long);
    va_end(words);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_prctl && word[0] == PR_GET_SECCOMP) {
        atomic_fetch_add(&asked, 1);
        spin_us(20);
    }
    return next(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}

int main(void) {
    test_limit(60);
    for (int round = 0; round < 300; round++) {
        atomic_int members = 0;
#pragma omp parallel
        atomic_fetch_add(&members, 1);
        CHECK(members == omp_get_max_threads());
        spin_us(round % 3 * 100);
    }
    CHECK(asked > 0);
    return 0;
}
