/* build/lib/libcapstan-adopt.so, which `capstan run` preloads: it notices libraries with pools that
 * are loaded later, as each makes its first thread. OpenBLAS makes it while it is loaded, FFTW as
 * its first loop begins. docs/adr/0017 lists the rejected ways. In other builds this file is
 * empty. */
#ifdef CST_PRELOAD
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "capstan.h"
#include "platform/atomic.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

typedef int create_function(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*start)(void *), void *argument);

/* The runtime may be another one, without this function. */
#pragma weak capstan_adopt

static _Atomic(create_function *) next;

static create_function *find_next(void) {
    create_function *found = cst_load_relaxed(&next);
    if (!found) {
        *(void **)&found = dlsym(RTLD_NEXT, "pthread_create");
        cst_store_relaxed(&next, found);
    }
    return found;
}

/* Looks the function up early. Threads may be made before this constructor runs, so pthread_create
 * looks it up too. */
__attribute__((constructor)) static void start(void) {
    find_next();
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
                                                          const pthread_attr_t *attributes,
                                                          void *(*start_routine)(void *),
                                                          void *argument) {
    create_function *create = find_next();
    int saved = errno;
    if (capstan_adopt) capstan_adopt(__builtin_return_address(0));
    errno = saved;
    return create ? create(thread, attributes, start_routine, argument) : EAGAIN;
}

#endif
