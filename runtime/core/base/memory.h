/* Memory that the caller cannot do without. Where a caller can go on, it takes malloc and says
 * less: a smaller team, a null pointer from omp_alloc. The interface of a construct cannot fail. */
#ifndef CST_CORE_BASE_MEMORY_H
#define CST_CORE_BASE_MEMORY_H

#include "core/base/message.h"

#include <stdlib.h>

/* Ends the process, with libgomp's message and its status, 1. `use` says what the bytes were for,
 * as in "a task". The caller holds no lock: functions that run at the exit may open regions. */
static inline _Noreturn void cst_memory_exhausted(const char *use, size_t size) {
    cst_message_openmp_fatal("Out of memory allocating %zu bytes for %s", size, use);
}

/* Never NULL. To be freed by free(). */
static inline void *cst_memory_get(const char *use, size_t size) {
    void *memory = malloc(size ? size : 1);
    if (!memory) cst_memory_exhausted(use, size);
    return memory;
}

#endif
