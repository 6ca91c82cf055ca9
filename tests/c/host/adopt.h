/* A library with its own pool (parts/blas_part.c), which the tests open late, and the sections that
 * it runs for them. */
#ifndef HOST_ADOPT_H
#define HOST_ADOPT_H

#include "process.h"
#include <dlfcn.h>

enum { VALUES = 3000 };

typedef long sum_function(const long *values, int count, int *jobs);

struct part {
    sum_function *sum, *factor;
    void (*set_threads)(int);
    int (*get_threads)(void);
    int *clashes, *own_jobs;
};

static struct part part;
static long values[VALUES], expected;

static unsigned (*adopt)(const void *);

static void find(void *handle, void *where, const char *name) {
    *(void **)where = dlsym(handle, name);
    CHECK(*(void **)where != NULL);
}

/* Returns whether the runtime must run the library's sections. */
__attribute__((unused)) static int adopts(void) {
    const char *chosen = getenv("CAPSTAN_ADOPT");
    return adopt && chosen && strcmp(chosen, "none") != 0 && strcmp(chosen, "fftw") != 0;
}

__attribute__((unused)) static void open_library(void) {
    char path[600];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 30);
    CHECK(length > 0);
    path[length] = 0;
    strcpy(strrchr(path, '/'), "/blas_part.so");
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != NULL);
    find(handle, &part.sum, "blas_part_sum");
    find(handle, &part.factor, "blas_part_factor");
    find(handle, &part.set_threads, "openblas_set_num_threads");
    find(handle, &part.get_threads, "openblas_get_num_threads");
    find(handle, &part.clashes, "blas_part_clashes");
    find(handle, &part.own_jobs, "blas_part_own_jobs");
    *(void **)&adopt = dlsym(RTLD_DEFAULT, "capstan_adopt");
    for (int i = 0; i < VALUES; i++) expected += values[i] = 3 * i + i % 7;
}

/* Runs `count` sections; each must have the right sum, and the number of jobs that the library was
 * told. */
__attribute__((unused)) static void run_sections(sum_function *function, int count, int threads) {
    for (int i = 0; i < count; i++) {
        int jobs = 0;
        CHECK_EQ(function(values, VALUES, &jobs), expected);
        CHECK_EQ(jobs, threads);
    }
}

#endif
