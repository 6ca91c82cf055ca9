/* What Capstan.OpenMP calls. All by unsafe foreign calls: they block for no longer than a lock is
 * held, and make no thread. */
#ifndef CST_ABI_SETTINGS_H
#define CST_ABI_SETTINGS_H

#include "core/front.h"

enum { CST_SETTINGS_SIZE = 32 };

/* Visible: GHC inlines calls of these into programs, which then need them by name. */
#pragma GCC visibility push(default)

/* All control variables of the current task. */
void cst_settings_save(struct cst_icv *settings);
void cst_settings_restore(const struct cst_icv *settings);

/* Whether the calls of omp.h take this affinity format. With any other they end the process, which
 * Haskell code does not: it is asked first, and throws. */
int cst_settings_know_format(const char *format);

/* Of the process so far; Capstan.OpenMP knows the layout. */
struct cst_statistics {
    uint64_t regions;
    uint64_t tasks;
    uint64_t workers;      /* threads ever made for teams */
    uint64_t largest_team; /* 0: no region so far */
    uint64_t busy;         /* threads that execute regions now */
    uint64_t
        unsafe_regions; /* entered by unsafe foreign calls; counted from cst_callback_prepare on */
    uint64_t unsafe_ns; /* how long those lasted */
};
void cst_statistics(struct cst_statistics *statistics);

#pragma GCC visibility pop

#endif
