/* The stack of a Haskell thread. */
#include <Rts.h>

/* Returns the words in all chunks of the thread's stack, used or not. */
HsInt capstan_test_stack_words(const StgTSO *thread) {
    return (HsInt)thread->tot_stack_size;
}
