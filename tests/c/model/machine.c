/* The kernel, the clock and the thread library, as far as core asks for them: each call is a step
 * of the explorer. Stands in for platform/linux/{futex,clock,scheduler}.c and the substrates. */
#include "explore.h"
#include "platform/platform.h"
#include "substrate/substrate.h"

void cst_futex_wait(_Atomic uint32_t *word, uint32_t expected) {
    explore_futex_wait((void *)word, expected, EXPLORE_AT("futex wait"));
}

/* Time never runs out: a protocol must not need it to. */
bool cst_futex_wait_for(_Atomic uint32_t *word, uint32_t expected, uint64_t ns) {
    (void)ns;
    explore_futex_wait((void *)word, expected, EXPLORE_AT("futex wait"));
    return true;
}

void cst_futex_wake(_Atomic uint32_t *word, int count) {
    explore_futex_wake((void *)word, count, EXPLORE_AT("futex wake"));
}

void cst_yield(void) {
    explore_spin(EXPLORE_AT("yield"));
}

void cst_process_barrier_prepare(void) {}

bool cst_process_barrier(void) {
    explore_process_barrier(EXPLORE_AT("membarrier"));
    return true;
}

bool cst_thread_is_first(void) {
    return explore_self() == 0;
}
uint32_t cst_thread_count(void) {
    return UINT32_MAX;
}
struct cst_thread_usage cst_thread_usage(void) {
    return (struct cst_thread_usage){0};
}

uint64_t cst_clock_ns(void) {
    return explore_ticks();
}
uint64_t cst_clock_resolution_ns(void) {
    return 1;
}
uint64_t cst_clock_coarse_ns(void) {
    return explore_ticks();
}

static int start(unsigned capabilities, const char **reason) {
    (void)capabilities, (void)reason;
    return 0;
}

static int spawn(cst_worker_main *main, void *argument, unsigned index, size_t stack_size,
                 bool apart) {
    (void)index, (void)stack_size, (void)apart;
    explore_start(main, argument);
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
};

const struct cst_substrate *cst_rts_substrate(const char **reason) {
    *reason = "none in a model";
    return NULL;
}

bool cst_rts_is_host(void) {
    return false;
}
