/* The library of the program that uses OpenMP (parts/openmp_part.c), opened late. */
#ifndef HOST_PART_H
#define HOST_PART_H

#include "process.h"
#include <dlfcn.h>

typedef int part_sum_function(int threads, int count);

/* Opens the library; *handle is for dlclose. */
static part_sum_function *open_part(void **handle) {
    char path[600];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 30);
    CHECK(length > 0);
    path[length] = 0;
    strcpy(strrchr(path, '/'), "/openmp_part.so");
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!*handle) fprintf(stderr, "%s\n", dlerror());
    CHECK(*handle != NULL);
    part_sum_function *sum = (part_sum_function *)dlsym(*handle, "part_sum");
    CHECK(sum != NULL);
    return sum;
}

#endif
