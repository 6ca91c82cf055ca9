/* The pthread substrate: workers are plain threads, and no Haskell runs. */
#include "substrate/substrate.h"
#include "substrate/thread.h"

#include <errno.h>
#include <stdlib.h>

struct start {
    cst_worker_main *main;
    void *argument;
};

static void *run(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    start.main(start.argument);
    return NULL;
}

static int spawn(cst_worker_main *main, void *argument, unsigned index, size_t stack_size) {
    (void)index;
    int saved = errno;
    struct start *start = malloc(sizeof *start);
    errno = saved;
    if (!start) return ENOMEM;
    *start = (struct start){.main = main, .argument = argument};
    int error = cst_thread_start(run, start, stack_size, 0);
    if (error) free(start);
    return error;
}

static int start(unsigned capabilities, const char **reason) {
    (void)capabilities, (void)reason;
    return 0;
}
static unsigned none(void) {
    return 0;
}
static bool never(unsigned capability) {
    (void)capability;
    return false;
}

const struct cst_substrate cst_pthread_substrate = {
    .name = "pthread",
    .start = start,
    .spawn = spawn,
    .capabilities = none,
    .haskell_runs = never,
    .idle_capabilities = none,
    .ghc_version = NULL,
};
