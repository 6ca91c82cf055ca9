/* OMP_STACKSIZE is for the program's frames. A program with much static thread-local storage, which
 * the C library takes from the stack, gets its threads too.
 * test: env OMP_STACKSIZE=64k
 * test: env OMP_STACKSIZE=64k OMP_WAIT_POLICY=passive
 * test: not stock libgomp ends the process, as the C library refuses so small a stack
 */
#include "testing.h"
#include <omp.h>
#include <string.h>

enum { STORAGE = 1 << 20, FRAME = 48 << 10, THREADS = 4 };

static _Thread_local char storage[STORAGE];

static int __attribute__((noinline)) use_stack(int value) {
    volatile char frame[FRAME];
    memset((char *)(size_t)frame, value, sizeof frame);
    return frame[FRAME / 2];
}

int main(void) {
    test_limit(30);
    int members = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : members)
    {
        memset(storage, omp_get_thread_num(), sizeof storage);
        members += use_stack(1);
        CHECK_EQ(storage[STORAGE - 1], omp_get_thread_num());
    }
    CHECK_EQ(members, THREADS);
    return 0;
}
