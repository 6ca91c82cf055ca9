/* Calls functions before GHC's runtime system frees memory: at the begin of hs_exit, in the hook
 * that GHC has for programs (RtsConfig). */
#include "substrate/rts/rts.h"

#if defined(__GLASGOW_HASKELL__) && !defined(CST_SHARED_LIBRARY)
#include <pthread.h>

/* Null if the runtime system is a shared library, which hides it. */
extern RtsConfig rtsConfig __attribute__((weak));

enum { MOST = 4 };

static struct {
    pthread_mutex_t lock;
    unsigned count;
    void (*functions[MOST])(void);
    void (*next)(void); /* the program's own hook */
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void leave(void) {
    pthread_mutex_lock(&last.lock);
    unsigned count = last.count;
    pthread_mutex_unlock(&last.lock);
    while (count > 0) last.functions[--count]();
    if (last.next) last.next();
}

bool cst_rts_at_exit(void (*function)(void)) {
    if (!&rtsConfig) return false;
    pthread_mutex_lock(&last.lock);
    bool room = last.count < MOST;
    if (last.count == 0) {
        last.next = rtsConfig.onExitHook;
        rtsConfig.onExitHook = leave;
    }
    if (room) last.functions[last.count++] = function;
    pthread_mutex_unlock(&last.lock);
    return room;
}

#endif
