/* A guest's thread-local memory: one word for each thread, the RTS's pointer to the thread's Task.
 *
 * The loader allocates such memory of a late library with malloc, when a thread first uses it. If
 * there is no memory, the loader ends the process with status 127. LeakSanitizer guesses the size
 * of that memory, and a wrong guess ends the process as well. So the word is a variable of Capstan
 * that each thread has from its start, and the RTS's calls for its own word come here
 * (imports.c). */
#ifdef CST_SHARED_LIBRARY
#include "substrate/rts/rts.h"

static _Thread_local uintptr_t word __attribute__((tls_model("initial-exec")));

static unsigned long module;
static cst_rts_tls_function *loaders;

static void *find(struct cst_rts_tls_index *place) {
    if (place->module == module) return (char *)&word + place->offset;
    return loaders(place);
}

cst_rts_tls_function *cst_rts_tls_prepare(void) {
    struct cst_rts_module found = {.inside = (uintptr_t)&rts_lock};
    /* A tool may have replaced the loader's function. */
    loaders = (cst_rts_tls_function *)cst_rts_loaders_own("__tls_get_addr");
    if (!loaders) return NULL;
    cst_rts_tls = loaders;
    if (!cst_rts_find_module(&found) || found.bytes != sizeof word || !found.zero) return loaders;
    module = found.number;
    return cst_rts_tls = find;
}

#endif
