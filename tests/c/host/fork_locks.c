/* The process forks while another thread is inside the runtime: the child finds no lock held, and
 * no table half changed. One table holds Fortran's allocatable variables with an allocator; the
 * test finds the calls of GCC 14 by name. The other holds small pinned blocks, which share pages.
 * The child does not inherit the pins, and must not pin the pages anew.
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

/* Returns an address that need not exist. */
static void *address(int owner, int number) {
    return (void *)(((uintptr_t)owner << 32) + 64 * (uintptr_t)(number + 1));
}

/* Addresses that differ only in high bits: a hash table is likely to keep them in one long run. To
 * forget the first address the table moves all others, each for a moment in two places. */
static void *neighbour(int number) {
    return (void *)(((uintptr_t)2 << 40) + ((uintptr_t)(number + 1) << 20));
}

/* Adds and forgets without a pause, so that most forks meet this thread inside the table. */
static void *work(void *nothing) {
    while (!GET(&stop)) {
        for (int i = 0; i < ROUND; i++) add(neighbour(i));
        for (int i = 0; i < ROUND; i++) CHECK(is(neighbour(i)));
    }
    return nothing;
}

static omp_allocator_handle_t pinned_allocator(void) {
    const omp_alloctrait_t traits[] = {{omp_atk_pinned, omp_atv_true},
                                       {omp_atk_fallback, omp_atv_null_fb}};
    return omp_init_allocator(omp_default_mem_space, 2, traits);
}

static omp_allocator_handle_t pinned;

static void *work_pinned(void *nothing) {
    enum { HELD = 100 };
    char *held[HELD] = {0};
    for (unsigned step = 0; !GET(&stop); step++) {
        char **block = &held[step * 7 % HELD];
        omp_free(*block, pinned);
        *block = omp_alloc(1 + step % 200, pinned);
        CHECK(*block);
        **block = 1;
    }
    for (int i = 0; i < HELD; i++) omp_free(held[i], pinned);
    return nothing;
}

static void use_pinned(char *inherited[2], bool counted) {
    for (int i = 0; i < 2; i++) CHECK(inherited[i][0] == 'a' + i && inherited[i][99] == 'z');
    CHECK(status_number("VmLck") <= 0);
    omp_free(inherited[0], pinned);
    char *own = omp_calloc(1, 100, pinned);
    CHECK(own && own[0] == 0 && own[99] == 0);
    if (counted) CHECK(status_number("VmLck") > 0);
    own[0] = 'x';
    omp_free(inherited[1], pinned);
    CHECK(own[0] == 'x');
    omp_free(own, pinned);
    CHECK(status_number("VmLck") <= 0);
}

static _Noreturn void child(char *inherited[2], bool counted) {
    alarm(20);
    use_pinned(inherited, counted);
    for (int i = 0; i < KEPT; i++) CHECK(is(address(1, i)));
    for (int i = 0; i < KEPT; i++) CHECK(!is(address(1, i)));
    for (int i = 0; i < ROUND; i++)
        if (is(neighbour(i))) CHECK(!is(neighbour(i))); /* it was in the table, but once */
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
    omp_get_max_threads(); /* so that the linker keeps the library */
    for (int i = 0; i < KEPT; i++) add(address(1, i));
    pinned = pinned_allocator();
    char *inherited[2];
    for (int i = 0; i < 2; i++) {
        inherited[i] = omp_alloc(100, pinned);
        if (!inherited[i]) test_skip("no memory may be pinned here");
        inherited[i][0] = (char)('a' + i);
        inherited[i][99] = 'z';
    }
    bool counted = status_number("VmLck") > 0; /* under a sanitizer nothing is pinned */
    pthread_t worker[2];
    CHECK_EQ(pthread_create(&worker[0], NULL, work, NULL), 0);
    CHECK_EQ(pthread_create(&worker[1], NULL, work_pinned, NULL), 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t pid = fork();
        if (pid == 0) child(inherited, counted);
        expect_child_ends_well(pid, 25);
    }
    SET(&stop, 1);
    for (int i = 0; i < 2; i++) CHECK_EQ(pthread_join(worker[i], NULL), 0);
    return 0;
}
