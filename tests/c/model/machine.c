/* The calls of the kernel, the clock and the thread library that core makes: each is a step of the
 * explorer. This file replaces platform/linux/{futex,clock,cpu_mask,scheduler}.c and the
 * substrates. */
#include "models.h"
#include "platform/platform.h"
#include "platform/stack.h"
#include "substrate/substrate.h"

#include <string.h>

const char cst_message_openmp_prefix[] = "OpenMP: ";

void cst_futex_wait(_Atomic uint32_t *word, uint32_t expected) {
    explore_futex_wait((void *)word, expected, EXPLORE_AT("futex wait"));
}

/* Unless a model sets this, no time-out ends a wait: a protocol must not need a time-out. */
bool machine_is_impatient;
bool machine_has_no_barrier;

/* An impatient thread never sleeps: its time is over at its look, whenever that is. */
bool cst_futex_wait_for(_Atomic uint32_t *word, uint32_t expected, uint64_t ns) {
    (void)ns;
    if (!machine_is_impatient) {
        explore_futex_wait((void *)word, expected, EXPLORE_AT("futex wait"));
        return true;
    }
    if (cst_load_relaxed(word) != expected) return true;
    explore_spin(EXPLORE_AT("end of patience"));
    return false;
}

int cst_futex_wake(_Atomic uint32_t *word, int count) {
    return explore_futex_wake((void *)word, count, EXPLORE_AT("futex wake"));
}

enum { THREADS = 64 };

/* In the model all threads are on a single processor. The array is plain, as a moved thread must
 * not go on before the move has ended. */
static unsigned moved[THREADS];
unsigned cst_cpu_current(void) {
    return moved[explore_self()];
}
unsigned cst_cpu_affinity_count(void) {
    return 1;
}
unsigned cst_cpu_process_count(void) {
    return cst_cpu_affinity_count();
}
size_t cst_cpu_process_mask(uint64_t *bits, size_t words) {
    return cst_cpu_mask_get(bits, words);
}
size_t cst_cpu_mask_get(uint64_t *bits, size_t words) {
    memset(bits, 0, words * sizeof *bits);
    return 0;
}
size_t cst_cpu_mask_get_own(uint64_t *bits, size_t words) {
    return cst_cpu_mask_get(bits, words);
}
bool cst_cpu_mask_set(const uint64_t *bits, size_t words) {
    (void)bits, (void)words;
    return false;
}
bool cst_cpu_mask_set_own(const uint64_t *bits, size_t words) {
    return cst_cpu_mask_set(bits, words);
}
void cst_cpu_move(int32_t id, unsigned processor) {
    (void)id, (void)processor;
}
void cst_cpu_part_woken(int32_t id) {
    moved[id] = 0;
}
int32_t cst_thread_id(void) {
    return (int32_t)explore_self();
}
bool cst_thread_is_main(void) {
    return explore_self() == 0;
}
int cst_cancellation_hold(void) {
    return 0;
}
void cst_cancellation_release(int held) {
    (void)held;
}

void cst_yield(void) {
    explore_spin(EXPLORE_AT("yield"));
}
void cst_yield_again(void) {
    cst_yield();
}

void cst_process_barrier_prepare(void) {}

bool cst_process_barrier(void) {
    if (machine_has_no_barrier) return false;
    explore_process_barrier(EXPLORE_AT("membarrier"));
    return true;
}

bool cst_thread_main_has_ended(void) {
    return machine_is_impatient;
}
/* --- traits: a number for each thread ------------------------------------------------------ */

static unsigned traits_of[THREADS];
static bool is_worker[THREADS];

void machine_set_traits(unsigned traits) {
    traits_of[explore_self()] = traits;
}
unsigned machine_traits(void) {
    return traits_of[explore_self()];
}
unsigned machine_takers(void) {
    unsigned count = 0;
    for (int i = 0; i < THREADS; i++) count += is_worker[i] && traits_of[i] != MACHINE_BLOCKED;
    return count;
}
void cst_thread_traits_get(struct cst_thread_traits *traits) {
    *traits = (struct cst_thread_traits){.processors = machine_traits()};
}
struct cst_thread_class cst_thread_class_get(void) {
    return (struct cst_thread_class){0};
}
bool cst_thread_traits_same(const struct cst_thread_traits *a, const struct cst_thread_traits *b) {
    return a->processors == b->processors &&
           memcmp(&a->blocked, &b->blocked, sizeof a->blocked) == 0;
}
void cst_thread_traits_adopt(const struct cst_thread_traits *wanted, bool processors) {
    (void)processors;
    machine_set_traits((unsigned)wanted->processors);
}
void cst_thread_block_signals(void) {
    machine_set_traits(MACHINE_BLOCKED);
}

/* ------------------------------------------------------------------------------------------- */

bool cst_stack_call(size_t size, void (*function)(void *), void *argument) {
    (void)size;
    function(argument);
    return true;
}
_Atomic bool cst_confined_seen;
bool cst_confined_self(void) {
    return false;
}
struct cst_thread_usage cst_thread_usage(void) {
    return (struct cst_thread_usage){0};
}

/* A slow processor, so that a wait is worth only a few polls. */
uint32_t cst_cpu_relax_ns(void) {
    return 1000;
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

static int start(unsigned capabilities, unsigned (*busy)(void), const char **reason) {
    (void)capabilities, (void)busy, (void)reason;
    return 0;
}

/* A thread begins with the traits of the thread that makes it. */
struct beginning {
    cst_worker_main *main;
    void *argument;
    unsigned traits;
};

static void *begin(void *argument) {
    struct beginning beginning = *(struct beginning *)argument;
    explore_free(argument);
    machine_set_traits(beginning.traits);
    is_worker[explore_self()] = true;
    return beginning.main(beginning.argument);
}

static int spawn(cst_worker_main *main, void *argument, unsigned index, size_t stack_size,
                 bool apart) {
    (void)index, (void)stack_size, (void)apart;
    struct beginning *beginning = explore_allocate(sizeof *beginning);
    *beginning = (struct beginning){main, argument, machine_traits()};
    explore_start(begin, beginning);
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

const struct cst_substrate *machine_rts;

const struct cst_substrate *cst_rts_substrate(const char **reason) {
    *reason = "none in a model";
    return machine_rts;
}

bool cst_rts_is_host(void) {
    return false;
}

/* There is no other process to share with. */
uint64_t cst_process_identity(void) {
    return 0;
}
bool cst_process_lives(uint64_t identity) {
    (void)identity;
    return false;
}
void *cst_shared_memory(const char *name, size_t size, char *path, size_t path_size,
                        const char **reason) {
    (void)name, (void)size, (void)path, (void)path_size;
    *reason = "a model has none";
    return NULL;
}
