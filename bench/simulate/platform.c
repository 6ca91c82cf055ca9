/* platform.c: the simulated machine in place of the system and the substrate. The functions that a
 * region, a barrier, a loop or a task needs do their work; the others do nothing. */
#include "machine.h"

#include "platform/platform.h"
#include "platform/stack.h"
#include "substrate/substrate.h"

#include <errno.h>
#include <stdlib.h>

/* Sets the policy before the runtime's own constructor reads the environment: no thread sleeps. */
__attribute__((constructor(101))) static void choose_policy(void) {
    setenv("OMP_WAIT_POLICY", "active", 1);
    setenv("CAPSTAN_SUBSTRATE", "pthread", 1);
}

void cst_futex_wait(_Atomic uint32_t *word, uint32_t expected) {
    if (*word == expected) sim_sleep(word);
}
bool cst_futex_wait_for(_Atomic uint32_t *word, uint32_t expected, uint64_t ns) {
    (void)ns;
    cst_futex_wait(word, expected);
    return true;
}
int cst_futex_wake(_Atomic uint32_t *word, int count) {
    return sim_wake(word, count);
}
void cst_yield(void) {
    sim_relax();
}
bool cst_process_barrier(void) {
    return true;
}
uint64_t cst_involuntary_switches(void) {
    return 0;
}

uint32_t cst_cpu_relax_ns(void) {
    return 25;
}

uint64_t cst_clock_ns(void) {
    return sim_self() < 0 ? 0 : sim_now() * SIM_NS / SIM_TRANSFER;
}
uint64_t cst_clock_coarse_ns(void) {
    return cst_clock_ns();
}
uint64_t cst_clock_resolution_ns(void) {
    return 1;
}

size_t cst_cpu_mask_get(uint64_t *bits, size_t words) {
    for (size_t i = 0; i < words; i++) bits[i] = i < SIM_MOST / 64 ? UINT64_MAX : 0;
    return SIM_MOST;
}
bool cst_cpu_mask_set(const uint64_t *bits, size_t words) {
    (void)bits, (void)words;
    return true;
}
unsigned cst_cpu_current(void) {
    return sim_self() < 0 ? 0 : (unsigned)sim_self();
}
bool cst_thread_is_main(void) {
    return sim_self() <= 0;
}
int cst_cancellation_hold(void) {
    return 0;
}
void cst_cancellation_release(int held) {
    (void)held;
}
/* No library is loaded, so no call needs another stack. */
bool cst_stack_call(size_t size, void (*function)(void *), void *argument) {
    (void)size;
    function(argument);
    return true;
}
unsigned cst_cpu_affinity_count(void) {
    return SIM_MOST;
}
unsigned cst_cpu_quota(void) {
    return 0;
}
unsigned cst_cpu_quota_below(const char *root) {
    return (void)root, 0;
}
unsigned cst_cpu_available(void) {
    return SIM_MOST;
}
bool cst_topology_group(const char *root, enum cst_topology level, unsigned processor,
                        uint64_t *bits, size_t words) {
    (void)root, (void)level, (void)processor, (void)bits, (void)words;
    return false;
}
bool cst_topology_nodes(const char *root, uint64_t *bits, size_t words) {
    (void)root, (void)bits, (void)words;
    return false;
}

/* --- the substrate ------------------------------------------------------------------------ */

static int start(unsigned threads, unsigned (*busy)(void), const char **reason) {
    (void)threads, (void)busy, (void)reason;
    return 0;
}
struct worker {
    cst_worker_main *main;
    void *argument;
};

static void run(void *given) {
    struct worker worker = *(struct worker *)given;
    free(given);
    worker.main(worker.argument);
}

/* Each thread has its own processor. */
static int spawn(cst_worker_main *main, void *argument, unsigned index, size_t stack_size,
                 bool apart) {
    (void)index, (void)stack_size, (void)apart;
    struct worker *worker = malloc(sizeof *worker);
    if (!worker) return ENOMEM;
    *worker = (struct worker){main, argument};
    if (sim_spawn(run, worker)) return 0;
    free(worker);
    return EAGAIN;
}
static unsigned none(void) {
    return 0;
}
static bool never(unsigned capability) {
    return (void)capability, false;
}

const struct cst_substrate cst_pthread_substrate = {.name = "pthread",
                                                    .start = start,
                                                    .spawn = spawn,
                                                    .capabilities = none,
                                                    .haskell_runs = never,
                                                    .idle_capabilities = none};

const struct cst_substrate *cst_rts_substrate(const char **reason) {
    *reason = "simulated";
    return NULL;
}
bool cst_rts_is_host(void) {
    return false;
}
