/* LLVM's runtime is in the same process. Each runtime serves its own callers: one after the other,
 * inside the other's regions, and at the same time from different threads.
 * test: flags -ldl
 */
#include "process.h"
#include <dlfcn.h>
#include <glob.h>
#include <omp.h>
#include <pthread.h>

/* The record that clang emits for a region. */
struct location {
    int reserved_1, flags, reserved_2, reserved_3;
    const char *source;
};
typedef void microtask(int *, int *, ...);
static struct location here = {0, 2, 0, 0, ";unknown;unknown;0;0;;"};
static void (*fork_call)(struct location *, int, microtask *, ...);
static void (*push_num_threads)(struct location *, int, int);
static int (*global_thread_num)(struct location *);
static void (*other_barrier)(struct location *, int);

static void *open_other(void) {
    /* Opened by its path, as Capstan has the same names. */
    void *handle = NULL;
    glob_t found;
    if (glob("/usr/lib/llvm-*/lib/libomp.so.5", 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && !handle; i++)
            handle = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
    if (!handle) test_skip("LLVM's OpenMP runtime is not installed");
    fork_call =
        (void (*)(struct location *, int, microtask *, ...))dlsym(handle, "__kmpc_fork_call");
    push_num_threads =
        (void (*)(struct location *, int, int))dlsym(handle, "__kmpc_push_num_threads");
    global_thread_num = (int (*)(struct location *))dlsym(handle, "__kmpc_global_thread_num");
    other_barrier = (void (*)(struct location *, int))dlsym(handle, "__kmpc_barrier");
    CHECK(fork_call && push_num_threads && global_thread_num && other_barrier);
    return handle;
}

static void other_member(int *global, int *bound, ...) {
    __builtin_va_list arguments;
    __builtin_va_start(arguments, bound);
    int *count = __builtin_va_arg(arguments, int *);
    __builtin_va_end(arguments);
    INCREMENT(count);
    other_barrier(&here, *global);
    CHECK(GET(count) >= 2);
}

static void other_region(int size) {
    int count = 0;
    push_num_threads(&here, global_thread_num(&here), size);
    fork_call(&here, 1, other_member, &count);
    CHECK_EQ(count, size);
}

static void our_region(int size) {
    int count = 0, sum = 0;
#pragma omp parallel num_threads(size)
    {
        INCREMENT(&count);
#pragma omp barrier
        CHECK_EQ(GET(&count), size);
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 10; i++) INCREMENT(&sum);
        CHECK_EQ(GET(&sum), 10);
    }
}

static void our_member_in_other(int *global, int *bound, ...) {
    (void)global;
    (void)bound;
    our_region(2);
}

static void *run_ours(void *unused) {
    for (int round = 0; round < 200; round++) our_region(2 + round % 2);
    return unused;
}

static void *run_other(void *unused) {
    for (int round = 0; round < 200; round++) other_region(2 + round % 2);
    return unused;
}

int main(void) {
    test_limit(50);
    open_other();
    for (int round = 0; round < 50; round++) {
        our_region(3);
        other_region(3);
    }
    /* LLVM's region inside Capstan's, and Capstan's inside LLVM's. */
    for (int round = 0; round < 20; round++) {
#pragma omp parallel num_threads(2)
        other_region(2);
        push_num_threads(&here, global_thread_num(&here), 2);
        fork_call(&here, 0, our_member_in_other);
    }
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&thread[i], NULL, i % 2 ? run_ours : run_other, NULL) == 0);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    return 0;
}
