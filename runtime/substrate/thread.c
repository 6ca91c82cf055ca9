/* Makes a detached thread, with the stack size of the user; see thread.h. */
#include "substrate/thread.h"

#include "platform/atomic.h"
#include "platform/platform.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* Prints the message once per process, as every worker has the same stack size. */
static void refuse_stack_size(size_t size, long least) {
    static _Atomic bool told;
    /* Relaxed: the exchange finds the first caller, and publishes nothing else. */
    if (cst_load_relaxed(&told) || cst_exchange_relaxed(&told, true)) return;
    fprintf(stderr,
            "\nlibgomp: OMP_STACKSIZE: a stack of %zu bytes is less than the minimum of %ld\n",
            size, least);
}

/* The C library takes static thread-local storage from the stack, and refuses a stack that has no
 * room beside it (EINVAL). OMP_STACKSIZE is for the program's frames, so the stack grows until the
 * library takes it. */
static int create(pthread_attr_t *attributes, size_t stack_size, void *(*function)(void *),
                  void *argument, pthread_t *thread) {
    enum { FIRST = 64 << 10, MOST = 256 << 20 };
    int error = pthread_create(thread, attributes, function, argument);
    for (size_t more = FIRST; error == EINVAL && stack_size && more <= MOST; more *= 2) {
        size_t size;
        if (__builtin_add_overflow(stack_size, more, &size)) break;
        if (pthread_attr_setstacksize(attributes, size) != 0) break;
        error = pthread_create(thread, attributes, function, argument);
    }
    return error;
}

int cst_thread_start(void *(*function)(void *), void *argument, size_t stack_size, size_t more,
                     bool apart) {
    int saved = errno;
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error) return error;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    long least = sysconf(_SC_THREAD_STACK_MIN);
    if (stack_size && least > 0 && stack_size < (size_t)least)
        refuse_stack_size(stack_size, least);
    else if (stack_size && __builtin_add_overflow(stack_size, more, &stack_size))
        error = ENOMEM;
    else if (stack_size)
        error = pthread_attr_setstacksize(&attributes, stack_size);
    pthread_t thread;
    if (!error) error = create(&attributes, stack_size, function, argument, &thread);
    pthread_attr_destroy(&attributes);
    if (!error && apart) cst_cpu_part(thread);
    errno = saved;
    return error;
}
