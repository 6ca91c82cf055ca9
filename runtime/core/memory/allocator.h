/* OpenMP's memory allocators (5.2, chapter 6): a header before each piece of memory names its
 * origin, so that freeing needs only the address.
 *
 * All memory spaces are the host's one memory. Memory comes from malloc, or in pages of its own if
 * a trait asks for pinned memory or for certain memory nodes. */
#ifndef CST_CORE_MEMORY_ALLOCATOR_H
#define CST_CORE_MEMORY_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* omp_allocator_handle_t: a predefined number, or the address of a struct cst_allocator. */
typedef uintptr_t cst_allocator_handle;

enum {
    CST_ALLOCATOR_NULL = 0,
    CST_ALLOCATOR_DEFAULT = 1,
    CST_ALLOCATOR_PREDEFINED = 8, /* the last of OpenMP's */
    CST_ALLOCATOR_PINNED = 200,   /* ompx_gnu_pinned_mem_alloc */
    CST_ALLOCATOR_MANAGED = 201,  /* ompx_gnu_managed_mem_alloc: devices have it, the host not */
};

enum cst_fallback {
    CST_FALLBACK_DEFAULT, /* the default memory, then NULL */
    CST_FALLBACK_NULL,
    CST_FALLBACK_ABORT,
    CST_FALLBACK_ALLOCATOR
};

enum cst_partition {
    CST_PARTITION_ENVIRONMENT, /* the operating system places memory by first touch */
    CST_PARTITION_NEAREST,
    CST_PARTITION_BLOCKED,
    CST_PARTITION_INTERLEAVED
};

struct cst_allocator_traits {
    size_t alignment; /* a power of two */
    size_t pool_size; /* SIZE_MAX: unlimited */
    enum cst_fallback fallback;
    cst_allocator_handle fallback_allocator;
    enum cst_partition partition;
    bool pinned;
    bool managed; /* a memory space of devices only */
};

/* Makes an allocator. CST_ALLOCATOR_NULL: there is no memory for it. */
cst_allocator_handle cst_allocator_make(const struct cst_allocator_traits *traits);
void cst_allocator_free(cst_allocator_handle allocator);

/* OMP_ALLOCATOR. False, with libgomp's message, if the text is wrong. */
bool cst_allocator_parse(const char *text, cst_allocator_handle *allocator);

/* Any thread may call these functions; they block only in malloc. A null handle is not allowed. If
 * there is no memory, they follow the allocator's fallback: they return NULL, or the process
 * ends. */
void *cst_memory_alloc(size_t alignment, size_t size, bool zeroed, cst_allocator_handle allocator);
/* A null handle means the allocator from which the memory came. */
void *cst_memory_realloc(void *memory, size_t size, cst_allocator_handle allocator);
void cst_memory_free(void *memory);

/* Addresses of Fortran's allocatable variables that came from OpenMP's allocators: compiled code
 * asks before it frees one. */
void cst_memory_remember(void *memory);
/* Was the address remembered? If so, forgets it. */
bool cst_memory_forget(void *memory);
/* Called around a fork: no other thread changes the addresses meanwhile. The second runs in parent
 * and child. */
void cst_memory_before_fork(void);
void cst_memory_after_fork(void);

#endif
