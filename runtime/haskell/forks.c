/* Counts forks. In the child of GHC's forkProcess there is one Haskell thread, and the memory shows
 * unfinished work of other threads. A module that relies on threads of its own must notice that. */
#include "haskell/forks.h"

#include <pthread.h>

/* The only thread of a child writes it, before it can make other threads. */
static unsigned forks;
static pthread_once_t watching = PTHREAD_ONCE_INIT;

static void count_in_child(void) {
    forks++;
}

/* Fails only without memory; then a child is taken for its parent. */
static void watch(void) {
    pthread_atfork(NULL, NULL, count_in_child);
}

unsigned cst_haskell_forks(void) {
    pthread_once(&watching, watch);
    return forks;
}
