/* A library with a pool of its own, and what became of that.
 *
 * Records are made when a library is first seen, under the lock of adopt.c, and never removed: a
 * library may be unloaded while its record is read. */
#ifndef CST_ADOPT_FOREIGN_H
#define CST_ADOPT_FOREIGN_H

#include "adopt/elf.h"
#include "platform/atomic.h"

struct cst_foreign {
    char file[80];        /* last part of its path, cut */
    const char *pool;     /* what its pool is called */
    uintptr_t begin, end; /* where it lies; the same: it has been unloaded */
    bool waits;           /* it is to be taken over once it is known to be loaded (adopt.c) */
    /* NULL: its parallel sections run here. Else why not; written once, by whoever gives it back.
     */
    _Atomic(const char *) why;
    _Atomic uint64_t sections; /* run here */
    _Atomic uint32_t largest;  /* threads in one */
    _Atomic uint32_t made;     /* threads that it has made itself, as far as known (preload.c) */

    /* OpenBLAS alone (openblas.c): what it exports. */
    struct cst_openblas {
        void (*set)(void (*callback)(int sync, void (*job)(int thread, void *data, int buffer),
                                     int jobs, size_t size, void *data, int buffer));
        int (*execute)(long jobs, void *queue);
        char *(*config)(void);
        _Atomic int *threads; /* how many it has, with the caller's */
        uint32_t most;        /* numbers that it has for threads; 0: not asked yet */
    } openblas;
};

static inline void cst_foreign_count(struct cst_foreign *library, uint32_t threads) {
    cst_add_relaxed(&library->sections, 1);
    if (cst_load_relaxed(&library->largest) < threads)
        cst_store_relaxed(&library->largest, threads);
}

/* Is the library of the kind? It may not be ready to be called. */
bool cst_openblas_is(const struct cst_elf *elf);
bool cst_fftw_is(const struct cst_elf *elf);

/* Each takes a library of its kind over, and sets `why`: NULL, or why it is left alone. */
void cst_openblas_adopt(struct cst_foreign *library, const struct cst_elf *elf);
void cst_fftw_adopt(struct cst_foreign *library, const struct cst_elf *elf);

#endif
