/* The preloaded libcapstan-adopt.so adopts a library when it makes its first thread, at its load or
 * later, without a call of the program. The program's own threads are made as usual, before and
 * after that. The process then has one pool, and the threads that the library made when it was
 * loaded, and no more.
 *
 * test: not stock libgomp has no such library
 * test: not check the test is about the shared library
 * test: not thread the test is about the shared library
 * test: not address the test is about the shared library
 * test: not undefined the test is about the shared library
 * test: not qemu qemu has a thread of its own
 * test: flags -ldl -lpthread
 * test: shared parts/blas_part.c -lpthread
 */
#include "adopt.h"
#include <omp.h>
#include <pthread.h>

static void *add_one(void *count) {
    return (char *)count + 1;
}

static void make_thread(void) {
    pthread_t thread;
    void *result = NULL;
    CHECK(pthread_create(&thread, NULL, add_one, &thread) == 0);
    CHECK(pthread_join(thread, &result) == 0);
    CHECK(result == (char *)&thread + 1);
}

static void work(void) {
    make_thread();
    open_library();
    for (int round = 0; round < 20; round++) {
        int members = 0;
        run_sections(part.sum, 10, part.get_threads());
#pragma omp parallel num_threads(3)
        INCREMENT(&members);
        CHECK_EQ(members, 3);
    }
    CHECK_EQ(*part.own_jobs, 0);
    make_thread();
    if (part.get_threads() == 1) { /* the library has made no thread, and is not adopted yet */
        part.set_threads(3);
        run_sections(part.sum, 10, 3);
        CHECK_EQ(*part.own_jobs, 0);
        return;
    }
    /* GHC's runtime system has threads of its own. */
    if (!on_rts()) CHECK_EQ(settled_thread_count(), 1 + 2 + 2);
}

int main(int count, char **arguments) {
    (void)arguments;
    if (count > 1) {
        work();
        return 0;
    }
    test_limit(55);
    char preload[700];
    const char *library = getenv("TEST_LIBRARY");
    CHECK(library != NULL);
    snprintf(preload, sizeof preload, "LD_PRELOAD=%.*s/libcapstan-adopt.so",
             (int)(strrchr(library, '/') - library), library);
    static const char *const threads[] = {"BLAS_PART_THREADS=3", "BLAS_PART_THREADS=1"};
    for (int i = 0; i < 2; i++) {
        struct child child = run_child(
            "work",
            &(struct child_options){.environment = {preload, "CAPSTAN_ADOPT=all", threads[i]}});
        EXPECT_EXIT(child, 0);
        CHECK(!child.output[0]);
    }
    return 0;
}
