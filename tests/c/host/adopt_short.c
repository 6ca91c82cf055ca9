/* The library's own threads execute a section for which the pool cannot make threads. The jobs of a
 * section wait for each other, so with fewer threads it would never end.
 *
 * test: env CAPSTAN_ADOPT=all
 * test: not rts the program's pthread_create does not make GHC's threads
 * test: flags -ldl -lpthread
 * test: shared parts/blas_part.c -lpthread
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "adopt.h"
#include <omp.h>
#include <pthread.h>

static int refuse;

/* The library finds this function before that of the C library. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return refuse ? EAGAIN : next(thread, attributes, start, argument);
}

int main(void) {
    test_limit(55);
    freopen("/dev/null", "w", stderr); /* hides the warning that a thread could not be made */
    open_library();
    CHECK_EQ(omp_get_level(), 0); /* so that the program is linked with the runtime */
    if (adopt) CHECK_EQ(adopt(NULL), 1);
    part.set_threads(4);
    refuse = 1;
    run_sections(part.sum, 20, 4);
    CHECK(*part.own_jobs > 0);
    CHECK_EQ(*part.clashes, 0);
    refuse = 0;
    run_sections(part.sum, 20, 4);
    return 0;
}
