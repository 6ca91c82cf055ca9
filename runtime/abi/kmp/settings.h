/* Settings that programs of libomp may change while they run. */
#ifndef CST_ABI_KMP_SETTINGS_H
#define CST_ABI_KMP_SETTINGS_H

#include "abi/kmp/facts.h"

/* Kinds of execution: regions of one thread; long spinning; spinning as the block time says. */
enum { KMP_LIBRARY_SERIAL = 1, KMP_LIBRARY_TURNAROUND = 2, KMP_LIBRARY_THROUGHPUT = 3 };

/* In milliseconds; INT_MAX: for ever. */
int cst_kmp_blocktime(void);
void cst_kmp_set_blocktime(int milliseconds);

int cst_kmp_library(void);
void cst_kmp_set_library(int kind);

/* The stack size of threads made later, in bytes. */
size_t cst_kmp_stack_size(void);
void cst_kmp_set_stack_size(size_t bytes);

/* Reads settings from a text, "NAME=VALUE|NAME=VALUE". */
void cst_kmp_read(const char *text);

#endif
