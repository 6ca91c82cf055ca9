/* Counts forks. In the child of GHC's forkProcess there is one Haskell thread, and the memory says
 * what the others were about to do: who relies on threads of its own has to notice. */
#include "haskell/forks.h"

#include <pthread.h>

/* Written by the only thread of a child, before it can make others. */
static unsigned forks;
static pthread_once_t watching = PTHREAD_ONCE_INIT;

static void count_in_child(void) {
    forks++;
}

/* Fails without memory only; then a child is taken for its parent. */
static void watch(void) {
    pthread_atfork(NULL, NULL, count_in_child);
}

unsigned cst_haskell_forks(void) {
    pthread_once(&watching, watch);
    return forks;
}
