/* The host registered a fork handler before the library was loaded, so in the child it runs before
 * the library's own handlers. It may open a region, and so may the host's handlers in the parent.
 *
 * test: not stock libgomp's child waits for workers that the fork did not copy
 * test: plain
 * test: flags -ldl -lpthread
 * test: shared parts/openmp_part.c -fopenmp
 * test: not qemu a child of several threads hangs there without OpenMP too
 */
#include "part.h"
#include <pthread.h>

static part_sum_function *part_sum;
static int prepared, in_parent, in_child;

static void compute(void) {
    if (part_sum) CHECK_EQ(part_sum(3, 1000), 499500);
}

static void prepare(void) {
    compute();
    prepared++;
}

static void parent(void) {
    compute();
    in_parent++;
}

static void child(void) {
    alarm(20);
    compute();
    in_child++;
}

static void load(void) {
    void *handle;
    part_sum = open_part(&handle);
}

static void *forks(void *unused) {
    for (int i = 0; i < 3; i++) {
        int before = in_child;
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            CHECK_EQ(in_child, before + 1);
            compute();
            pid_t grandchild = fork();
            if (grandchild == 0) {
                compute();
                _exit(0);
            }
            expect_child_ends_well(grandchild, 20);
            _exit(0);
        }
        expect_child_ends_well(pid, 25);
        compute();
    }
    return unused;
}

static int done;

static void *computes(void *unused) {
    while (!GET(&done)) compute();
    return unused;
}

int main(void) {
    test_limit(60);
    CHECK(pthread_atfork(prepare, parent, child) == 0);
    load();
    forks(NULL); /* a fork before the first region */
    compute();
    forks(NULL);
    pthread_t thread, beside;
    CHECK(pthread_create(&beside, NULL, computes, NULL) == 0);
    forks(NULL);
    CHECK(pthread_create(&thread, NULL, forks, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    SET(&done, 1);
    CHECK(pthread_join(beside, NULL) == 0);
    CHECK_EQ(prepared, 12);
    CHECK_EQ(in_parent, 12);
    return 0;
}
