/* Memory that the caller cannot do without, as the interface of a construct cannot fail. A caller
 * that can go on calls malloc instead: it has a smaller team, or omp_alloc returns a null
 * pointer. */
#ifndef CST_CORE_BASE_MEMORY_H
#define CST_CORE_BASE_MEMORY_H

#include "core/base/message.h"

#include <stdlib.h>

/* Ends the process, with libgomp's message and its status, 1. `use` names the purpose of the bytes,
 * as in "a task". The caller holds no lock, as functions that run at the exit may open regions. */
static inline _Noreturn void cst_memory_exhausted(const char *use, size_t size) {
    cst_message_openmp_fatal("Out of memory allocating %zu bytes for %s", size, use);
}

/* Never returns NULL. free() frees the memory. */
static inline void *cst_memory_get(const char *use, size_t size) {
    void *memory = malloc(size ? size : 1);
    if (!memory) cst_memory_exhausted(use, size);
    return memory;
}

#endif
