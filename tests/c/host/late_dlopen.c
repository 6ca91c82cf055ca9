/* A program that is not linked with the library opens it late, also from another thread, runs
 * regions, and closes it, again and again. Each round works, and threads and memory do not grow.
 * The program does the same with a library of its own that uses OpenMP.
 * test: not stock dlclose unmaps it while its workers still run
 * test: plain
 * test: flags -ldl -lpthread
 * test: shared parts/openmp_part.c -fopenmp
 * test: not qemu qemu's translated code grows
 */
#include "part.h"
#include <pthread.h>

typedef void parallel(void (*)(void *), void *, unsigned, unsigned);

static int (*thread_num)(void);

static void member(void *argument) {
    int *seen = argument;
    INCREMENT(&seen[thread_num()]);
}

static void open_run_close(void) {
    const char *library = getenv("TEST_LIBRARY");
    void *handle = dlopen(library ? library : "libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != NULL);
    int seen[3] = {0};
    parallel *run = (parallel *)dlsym(handle, "GOMP_parallel");
    thread_num = (int (*)(void))dlsym(handle, "omp_get_thread_num");
    CHECK(run && thread_num);
    for (int round = 1; round <= 5; round++) {
        run(member, seen, 3, 0);
        for (int i = 0; i < 3; i++) CHECK_EQ(seen[i], round);
    }
    CHECK(dlclose(handle) == 0);
}

static void part_run_close(void) {
    void *handle;
    CHECK_EQ(open_part(&handle)(3, 1000), 499500);
    CHECK(dlclose(handle) == 0);
}

static void *in_thread(void *unused) {
    open_run_close();
    part_run_close();
    return unused;
}

int main(void) {
    test_limit(55);
    long threads = 0, memory = 0;
    for (int round = 0; round < 150; round++) {
        pthread_t thread;
        if (round % 3 == 0) {
            CHECK(pthread_create(&thread, NULL, in_thread, NULL) == 0);
            pthread_join(thread, NULL);
        }
        open_run_close();
        part_run_close();
        if (round == 30) {
            threads = settled_thread_count();
            memory = status_number("VmRSS");
        }
    }
    long threads_after = settled_thread_count(), memory_after = status_number("VmRSS");
    if (threads_after > threads || memory_after > memory + 4096)
        fprintf(stderr, "threads %ld, then %ld; memory %ld KiB, then %ld KiB\n", threads,
                threads_after, memory, memory_after);
    CHECK(threads_after <= threads);
    CHECK(memory_after <= memory + 4096);
    return 0;
}
