/* Starting a thread that watches; see watcher.h. */
#if defined(__GLASGOW_HASKELL__) && !defined(CST_SHARED_LIBRARY)
#include "substrate/rts/watcher.h"

#include "platform/platform.h"
#include "substrate/thread.h"

#include <pthread.h>
#include <signal.h>

enum { STACK_SIZE = 65536 };

int cst_rts_watcher_start(void *(*function)(void *), uint64_t *usual) {
    sigset_t all, own;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &own);
    *usual = cst_thread_ask_turns(CST_WATCHER_TURN_NS); /* the new thread inherits them */
    int error = cst_thread_start(function, NULL, STACK_SIZE, 0, false);
    cst_thread_ask_turns(*usual);
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    return error;
}

#endif
