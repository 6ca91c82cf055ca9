/* The pthread substrate: workers are plain threads, and no Haskell runs. */
#include "substrate/substrate.h"
#include "substrate/thread.h"

/* The thread gets no argument that it has to free, as its first call of free would make an arena of
 * malloc. */
static int spawn(cst_worker_main *main, void *argument, unsigned index, size_t stack_size,
                 bool apart) {
    (void)index;
    return cst_thread_start(main, argument, stack_size, 0, apart);
}

static int start(unsigned capabilities, unsigned (*busy)(void), const char **reason) {
    (void)capabilities, (void)busy, (void)reason;
    return 0;
}
static unsigned none(void) {
    return 0;
}
static bool never(unsigned capability) {
    (void)capability;
    return false;
}

static bool no(void) {
    return false;
}

const struct cst_substrate cst_pthread_substrate = {
    .name = "pthread",
    .start = start,
    .spawn = spawn,
    .capabilities = none,
    .haskell_runs = never,
    .idle_capabilities = none,
    .holds_capability = no,
    .ghc_version = NULL,
};
