/* A library with a pool of its own, and whether the runtime has taken it over.
 *
 * adopt.c makes a record under its lock when it first sees a library, and never removes it: the
 * library may be unloaded while a thread reads its record. */
#ifndef CST_ADOPT_FOREIGN_H
#define CST_ADOPT_FOREIGN_H

#include "adopt/elf.h"
#include "platform/atomic.h"

struct cst_foreign {
    char file[80];        /* last part of its path, shortened if need be */
    const char *pool;     /* name of its pool */
    uintptr_t begin, end; /* its addresses; equal: it has been unloaded */
    bool waits;           /* takeover is due when the library is known to be loaded (adopt.c) */
    /* NULL: its parallel sections run here. Else the reason why they do not, written once;
     * cst_foreign_openmp: they are regions of OpenMP. */
    _Atomic(const char *) why;
    _Atomic uint64_t sections; /* that ran here */
    _Atomic uint32_t largest;  /* threads in one section */
    _Atomic uint32_t made;     /* threads that it is known to have made itself (preload.c) */

    /* For OpenBLAS alone (openblas.c): its exports. */
    struct cst_openblas {
        void (*set)(void (*callback)(int sync, void (*job)(int thread, void *data, int buffer),
                                     int jobs, size_t size, void *data, int buffer));
        int (*execute)(long jobs, void *queue);
        char *(*config)(void);
        _Atomic int *threads; /* number of its threads, with the caller */
        uint32_t most;        /* number of its thread numbers; 0: not known yet */
    } openblas;
};

extern const char cst_foreign_openmp[];

/* Does the library need an OpenMP runtime? */
bool cst_foreign_needs_openmp(const struct cst_elf *elf);

static inline void cst_foreign_count(struct cst_foreign *library, uint32_t threads) {
    cst_add_relaxed(&library->sections, 1);
    if (cst_load_relaxed(&library->largest) < threads)
        cst_store_relaxed(&library->largest, threads);
}

/* Is the library of this kind? Its functions may not be ready yet. */
bool cst_openblas_is(const struct cst_elf *elf);
bool cst_fftw_is(const struct cst_elf *elf);

/* Each function takes over a library of its kind. It sets `why` to NULL, or to the reason why it
 * leaves the library alone. */
void cst_openblas_adopt(struct cst_foreign *library, const struct cst_elf *elf);
void cst_fftw_adopt(struct cst_foreign *library, const struct cst_elf *elf);

#endif
