/* Workers have a stack of the size in OMP_STACKSIZE, or of the system's default size without it.
 * test: env OMP_STACKSIZE=64M
 * test: env OMP_STACKSIZE=65536
 * test: env GOMP_STACKSIZE=65536
 * test: env TEST_PLAIN=1
 */
#define _GNU_SOURCE
#include "testing.h"
#include <omp.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

static size_t own_stack(void) {
    pthread_attr_t attributes;
    void *base;
    size_t size;
    CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
    CHECK(pthread_attr_getstack(&attributes, &base, &size) == 0);
    pthread_attr_destroy(&attributes);
    return size;
}

static long __attribute__((noinline)) deep(long depth) {
    volatile char frame[1000];
    memset((char *)(size_t)frame, (int)depth, sizeof frame);
    return depth == 0 ? 0 : deep(depth - 1) + (frame[5] == (char)depth);
}

int main(void) {
    test_limit(30);
    size_t expected = 64 << 20;
    if (getenv("TEST_PLAIN")) {
        struct rlimit limit;
        getrlimit(RLIMIT_STACK, &limit);
        expected = limit.rlim_cur == RLIM_INFINITY ? 2 << 20 : (size_t)limit.rlim_cur;
    }
#pragma omp parallel num_threads(3)
    if (omp_get_thread_num() > 0) {
        CHECK(own_stack() + 65536 >= expected);
        CHECK_EQ(deep((long)(expected / 1200)), (long)(expected / 1200));
    }
    return 0;
}
