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
    if (!error) error = pthread_create(&thread, &attributes, function, argument);
    pthread_attr_destroy(&attributes);
    if (!error && apart) cst_cpu_part(thread);
    errno = saved;
    return error;
}
