/* Memory that the caller cannot do without. */
#ifndef CST_CORE_MEMORY_H
#define CST_CORE_MEMORY_H

#include "core/message.h"

#include <stdlib.h>

/* Never NULL: without memory the process ends, with libgomp's message. To be freed by free(). */
static inline void *cst_memory_get(size_t size) {
    void *memory = malloc(size ? size : 1);
    if (!memory)
        cst_message_libgomp_fatal("Out of memory allocating %lu bytes", (unsigned long)size);
    return memory;
}

#endif
