/* The only function of this layer that makes a thread. */
#include "event/manager.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct start {
    void (*body)(void *);
    void *argument;
};

static void *run(void *memory) {
    struct start start = *(struct start *)memory;
    free(memory);
    start.body(start.argument);
    return NULL;
}

int cst_event_spawn(void (*body)(void *), void *argument) {
    struct start *start = malloc(sizeof *start);
    if (start == NULL) return ENOMEM;
    *start = (struct start){body, argument};
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    /* The new thread blocks all signals, so the host's signals go to the host's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, run, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error != 0) free(start);
    return error;
}
