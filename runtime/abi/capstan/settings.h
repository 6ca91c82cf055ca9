/* Calls of Capstan.OpenMP. All are unsafe foreign calls: they block at most while a lock is held,
 * and make no thread. */
#ifndef CST_ABI_SETTINGS_H
#define CST_ABI_SETTINGS_H

#include "core/front.h"

enum { CST_SETTINGS_SIZE = 32 };

/* Visible: GHC inlines calls of these functions into programs, which then need the names. */
#pragma GCC visibility push(default)

/* All control variables of the current task. */
void cst_settings_save(struct cst_icv *settings);
void cst_settings_restore(const struct cst_icv *settings);

/* Do the calls of omp.h accept this affinity format? They end the process for a wrong format.
 * Haskell code asks first, and throws instead. */
int cst_settings_know_format(const char *format);

/* Statistics of the process so far. Capstan.OpenMP knows the layout. */
struct cst_statistics {
    uint64_t regions;
    uint64_t tasks;
    uint64_t workers;        /* threads ever made for teams */
    uint64_t largest_team;   /* 0: no region so far */
    uint64_t busy;           /* threads that execute regions now */
    uint64_t unsafe_regions; /* entered by unsafe foreign calls, since cst_callback_prepare */
    uint64_t unsafe_ns;      /* their duration */
};
void cst_statistics(struct cst_statistics *statistics);

#pragma GCC visibility pop

#endif
