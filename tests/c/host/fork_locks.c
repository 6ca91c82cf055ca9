/* A fork while another thread is in the middle of the runtime's own work: the child finds no lock
 * that nobody will release, and no table half changed. The calls are those that GCC 14 makes for
 * Fortran's allocatable variables with an allocator, found by name.
 * test: flags -ldl -lpthread
 * test: not stock GCC 12's library has none of these calls
 */
#include "process.h"
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { FORKS = 100, KEPT = 3000, ROUND = 500 };

static void (*add)(void *);
static bool (*is)(void *);
static int stop;

/* Addresses that need not exist. */
static void *address(int owner, int number) {
    return (void *)(((uintptr_t)owner << 32) + 64 * (uintptr_t)(number + 1));
}

/* Adds and forgets without a pause, so that most forks meet it within. */
static void *work(void *nothing) {
    while (!GET(&stop)) {
        for (int i = 0; i < ROUND; i++) add(address(2, i));
        for (int i = 0; i < ROUND; i++) CHECK(is(address(2, i)));
    }
    return nothing;
}

static _Noreturn void child(void) {
    alarm(20);
    for (int i = 0; i < KEPT; i++) CHECK(is(address(1, i)));
    for (int i = 0; i < KEPT; i++) CHECK(!is(address(1, i)));
    add(address(3, 0));
    CHECK(is(address(3, 0)));
    int members = 0;
#pragma omp parallel num_threads(2)
    INCREMENT(&members);
    CHECK_EQ(members, 2);
    _exit(0);
}

int main(void) {
    test_limit(60);
    *(void **)&add = dlsym(RTLD_DEFAULT, "GOMP_add_alloc");
    *(void **)&is = dlsym(RTLD_DEFAULT, "GOMP_is_alloc");
    CHECK(add && is);
    omp_get_max_threads(); /* so that the library is needed */
    for (int i = 0; i < KEPT; i++) add(address(1, i));
    pthread_t worker;
    CHECK_EQ(pthread_create(&worker, NULL, work, NULL), 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t pid = fork();
        if (pid == 0) child();
        expect_child_ends_well(pid, 25);
    }
    SET(&stop, 1);
    CHECK_EQ(pthread_join(worker, NULL), 0);
    return 0;
}
