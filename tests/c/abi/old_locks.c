/* The lock calls of OpenMP 2.5, whose symbols have the version OMP_1.0. Their types have 4 and 8
 * bytes, and a thread owns the nest lock. Old binaries need these calls. */
#define _GNU_SOURCE
#include "testing.h"
#include <dlfcn.h>
#include <omp.h>
#include <string.h>

static void *old(const char *name) {
    const char *library = getenv("TEST_LIBRARY");
    void *handle = dlopen(library ? library : "libgomp.so.1", RTLD_NOW);
    CHECK(handle != NULL);
    void *found = dlvsym(handle, name, "OMP_1.0");
    if (!found) fprintf(stderr, "%s@OMP_1.0 is missing\n", name);
    CHECK(found != NULL);
    CHECK(dlvsym(handle, name, "OMP_3.0") != NULL);
    return found;
}

static void simple(void) {
    void (*init)(void *) = old("omp_init_lock");
    void (*set)(void *) = old("omp_set_lock");
    void (*unset)(void *) = old("omp_unset_lock");
    int (*test)(void *) = old("omp_test_lock");
    void (*destroy)(void *) = old("omp_destroy_lock");
    struct {
        unsigned before, lock, after;
    } all;
    memset(&all, 0x77, sizeof all);
    long sum = 0;
    init(&all.lock);
    CHECK(test(&all.lock));
    CHECK(!test(&all.lock));
    unset(&all.lock);
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 10000; i++) {
        set(&all.lock);
        sum++;
        unset(&all.lock);
    }
    destroy(&all.lock);
    CHECK_EQ(sum, 40000);
    CHECK_EQ(all.before, 0x77777777);
    CHECK_EQ(all.after, 0x77777777);
}

static void nestable(void) {
    void (*init)(void *) = old("omp_init_nest_lock");
    void (*set)(void *) = old("omp_set_nest_lock");
    void (*unset)(void *) = old("omp_unset_nest_lock");
    int (*test)(void *) = old("omp_test_nest_lock");
    void (*destroy)(void *) = old("omp_destroy_nest_lock");
    struct {
        unsigned before, lock[2], after;
    } all;
    memset(&all, 0x77, sizeof all);
    long sum = 0;
    init(&all.lock);
    CHECK_EQ(test(&all.lock), 1);
    CHECK_EQ(test(&all.lock), 2);
    unset(&all.lock);
    unset(&all.lock);
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 10000; i++) {
        set(&all.lock);
        set(&all.lock);
        sum++;
        unset(&all.lock);
        unset(&all.lock);
    }
    destroy(&all.lock);
    CHECK_EQ(sum, 40000);
    CHECK_EQ(all.before, 0x77777777);
    CHECK_EQ(all.after, 0x77777777);
}

int main(void) {
    test_limit(30);
    simple();
    nestable();
    return 0;
}
