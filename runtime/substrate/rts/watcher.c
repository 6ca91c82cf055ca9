/* Watcher threads; see watcher.h. */
#if defined(__GLASGOW_HASKELL__) && !defined(CST_SHARED_LIBRARY)
#include "substrate/rts/watcher.h"

#include "platform/platform.h"
#include "substrate/thread.h"

#include <pthread.h>
#include <unistd.h>

enum { STACK_SIZE = 65536 };

/* The size of a watcher's stack. AArch64 allows none below 128 KiB. */
static size_t stack_size(void) {
    long least = sysconf(_SC_THREAD_STACK_MIN);
    return least > STACK_SIZE ? (size_t)least : STACK_SIZE;
}

static void become_watcher(struct cst_rts_usual *before) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before->mask);
    before->turns = cst_thread_ask_turns(CST_WATCHER_TURN_NS);
}

static void become_again(const struct cst_rts_usual *usual) {
    cst_thread_ask_turns(usual->turns);
    pthread_sigmask(SIG_SETMASK, &usual->mask, NULL);
}

int cst_rts_watcher_start(void *(*function)(void *), struct cst_rts_usual *usual) {
    become_watcher(usual); /* the new thread inherits this */
    int error = cst_thread_start(function, NULL, stack_size(), 0, false);
    become_again(usual);
    return error;
}

void cst_rts_watcher_enter_ghc(const struct cst_rts_usual *usual) {
    become_again(usual);
}

void cst_rts_watcher_leave_ghc(void) {
    struct cst_rts_usual before;
    become_watcher(&before);
}

#endif
