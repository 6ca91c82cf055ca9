/* The handles of OpenMP's allocators and memory spaces as variables. omp.h of clang has them as
 * numbers of an enumeration; compilers that cannot, and Fortran's, take them from the library. */
#include "abi/whole.h"

#include <stdint.h>

CST_WHOLE(kmp_handles);

/* NOLINTBEGIN(bugprone-macro-parentheses): names are not expressions */

#define HANDLE(name, number)                                                                       \
    extern const uintptr_t name;                                                                   \
    __attribute__((visibility("default"))) const uintptr_t name = number

HANDLE(omp_null_allocator, 0);
HANDLE(omp_default_mem_alloc, 1);
HANDLE(omp_large_cap_mem_alloc, 2);
HANDLE(omp_const_mem_alloc, 3);
HANDLE(omp_high_bw_mem_alloc, 4);
HANDLE(omp_low_lat_mem_alloc, 5);
HANDLE(omp_cgroup_mem_alloc, 6);
HANDLE(omp_pteam_mem_alloc, 7);
HANDLE(omp_thread_mem_alloc, 8);

HANDLE(omp_null_mem_space, 0);
HANDLE(omp_default_mem_space, 0);
HANDLE(omp_large_cap_mem_space, 1);
HANDLE(omp_const_mem_space, 2);
HANDLE(omp_high_bw_mem_space, 3);
HANDLE(omp_low_lat_mem_space, 4);

/* Larger than any handle: its value is that of an address whose bits are all set. */
HANDLE(kmp_max_mem_alloc, UINTPTR_MAX);
HANDLE(kmp_max_mem_space, UINTPTR_MAX);

/* NOLINTEND(bugprone-macro-parentheses) */
