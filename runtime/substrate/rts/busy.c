/* The Capabilities that run Haskell code now: one load for each of them.
 *
 * GHC sets rCurrentTSO in a Capability's register table before it runs Haskell code, and clears it
 * after. It does so around safe foreign calls too (Schedule.c: schedule, suspendThread,
 * resumeThread). The field stays set in an unsafe foreign call; then the caller's own Capability
 * must not count as busy. */
#include "substrate/rts/rts.h"

#include "platform/atomic.h"
#include "platform/check.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>

/* GHC's own array of Capabilities and the state of its scheduler. GHC's shared library hides them,
 * but in a statically linked Haskell program the static linker sees them. Elsewhere they are null,
 * or belong to the host under the same name. */
extern Capability **capabilities __attribute__((weak));
extern uint32_t sched_state __attribute__((weak));
enum { RUNNING, INTERRUPTING, SHUTTING_DOWN };

/* Up to GHC 9.2, `capabilities` points to an array, which grows. Later it is an array of fixed
 * size. In releases with max_n_capabilities (9.10.2, 9.12.2) it is a pointer again. */
#ifdef MAX_N_CAPABILITIES
extern uint32_t max_n_capabilities __attribute__((weak));
#define ARRAY_IS_FIXED (!&max_n_capabilities)
#else
#define ARRAY_IS_FIXED false
#endif

/* Pointers to these two variables, if they are GHC's. Written once, before the first worker. */
static struct {
    _Atomic(Capability **) *capabilities;
    _Atomic uint32_t *state;
} ghc;
static _Atomic uint32_t always_running = RUNNING;
static _Atomic(Capability **) fixed_array; /* a pointer to the array, if its size is fixed */

/* The address of each Capability. GHC neither moves nor frees a Capability before hs_exit. A number
 * beyond the table never counts as busy. Each thread that learns an address writes it; all write
 * the same. */
enum { KNOWN = 1024 };
static _Atomic(Capability *) known[KNOWN];

/* The Capabilities whose holder leaves its processor to regions: a scout looks for tasks
 * (Capstan.Task.Pool), or an unsafe call sleeps in the line of masters. */
static _Atomic bool spared[KNOWN];

static const void *image_of(const void *address) {
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

bool cst_rts_is_ghcs(const void *address) {
    const void *rts = image_of(&n_capabilities);
    return rts && image_of(address) == rts;
}

static void observe(void) {
    ghc.state = &always_running;
    if (!cst_rts_is_ghcs(&capabilities) || !cst_rts_is_ghcs(&sched_state)) return;
    ghc.capabilities = (_Atomic(Capability **) *)&capabilities;
    if (ARRAY_IS_FIXED) {
        cst_store_relaxed(&fixed_array, (Capability **)&capabilities);
        ghc.capabilities = &fixed_array;
    }
    ghc.state = (_Atomic uint32_t *)&sched_state;
}

void cst_rts_observe(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, observe);
}

void cst_rts_note_capability(unsigned number, Capability *capability) {
    /* Release pairs with the acquire in cst_rts_capability: the Capability's fields were written
     * before. */
    if (number < KNOWN) cst_store_release(&known[number], capability);
}

unsigned cst_rts_capabilities(void) {
    return cst_load_relaxed((_Atomic uint32_t *)&enabled_capabilities);
}

/* setNumCapabilities stores a new array, then the count, then frees the old array. So the count is
 * read first. An entry is valid if the array is still GHC's after the entry was read. */
static Capability *look_up(unsigned number) {
    if (!ghc.capabilities) return NULL;
    for (;;) {
        if (number >= cst_load_acquire((_Atomic uint32_t *)&n_capabilities)) return NULL;
        Capability **array = cst_load_acquire(ghc.capabilities);
        if (!array) return NULL;
        Capability *found = cst_load_relaxed((_Atomic(Capability *) *)&array[number]);
        cst_fence_acquire();
        if (cst_load_relaxed(ghc.capabilities) != array) continue;
        cst_rts_note_capability(number, found);
        return found;
    }
}

Capability *cst_rts_capability(unsigned number) {
    if (number >= KNOWN) return NULL;
    Capability *found = cst_load_acquire(&known[number]);
    return cst_likely(found) ? found : look_up(number);
}

/* hs_exit frees the Capabilities after it has shut the scheduler down. */
static bool gone(void) {
    return cst_load_relaxed(ghc.state) >= SHUTTING_DOWN;
}

/* The address of the Haskell thread that runs. Callers only compare it, as a collection may move or
 * free the thread. */
static const void *runner(Capability *capability) {
    StgRegTable *registers = &((CapabilityPublic *)capability)->r;
    return cst_load_relaxed((_Atomic(struct StgTSO_ *) *)&registers->rCurrentTSO);
}

static bool runs(Capability *capability) {
    return runner(capability) != NULL;
}

bool cst_rts_haskell_runs(unsigned number) {
    if (cst_unlikely(gone())) return false;
    Capability *capability = cst_rts_capability(number);
    return capability && runs(capability);
}

/* The Task that holds the Capability. The field follows the number and the node (rts/Capability.h).
 * It is only compared: another thread's Task may be freed at any time. */
static void *holder(Capability *capability) {
    char *field = (char *)capability + cst_rts_number_offset + 2 * sizeof(uint32_t);
    return cst_load_relaxed((_Atomic(void *) *)field);
}

/* Is a thread ready to run on the Capability? A thread that was stopped for a collection is, until
 * the collection begins. */
static bool is_wanted(Capability *capability) {
    char *field = (char *)capability + cst_rts_queued_offset;
    return cst_rts_queued_offset && cst_load_relaxed((_Atomic uint32_t *)field) > 0;
}

unsigned cst_rts_wanted_capabilities(void) {
    unsigned count = cst_rts_capabilities(), wanted = 0;
    for (unsigned i = 0; i < count; i++) {
        Capability *capability = cst_rts_capability(i);
        wanted += capability && is_wanted(capability);
    }
    return wanted;
}

/* The Capability that a Task holds, or NULL. The search includes disabled Capabilities, since a
 * bound thread stays on its own when setNumCapabilities disables it. */
static Capability *held_by(void *task) {
    unsigned count = cst_load_acquire((_Atomic uint32_t *)&n_capabilities);
    for (unsigned i = 0; i < count; i++) {
        Capability *capability = cst_rts_capability(i);
        if (capability && holder(capability) == task && runs(capability)) return capability;
    }
    return NULL;
}

/* If GHC's array is not visible, each thread that comes from Haskell shows one Capability: the
 * Capability that it holds, or held last. */
static void note_current(void *task) {
    if (ghc.capabilities || !task) return;
    Capability *capability = rts_unsafeGetMyCapability();
    if (!capability) return;
    cst_rts_note_capability(*(uint32_t *)((char *)capability + cst_rts_number_offset), capability);
}

unsigned cst_rts_own_capability(void) {
    if (!cst_rts_task()) return UINT_MAX;
    Capability *capability = rts_unsafeGetMyCapability();
    return capability ? *(uint32_t *)((char *)capability + cst_rts_number_offset) : UINT_MAX;
}

bool cst_rts_holds_capability(void) {
    void *task = cst_rts_task();
    if (gone() || !task) return false;
    note_current(task);
    return held_by(task) != NULL;
}

void cst_rts_note_search(HsInt capability, HsBool begins) {
    if (capability < KNOWN) cst_store_relaxed(&spared[capability], begins);
}

void cst_rts_note_sleep(bool begins) {
    cst_rts_note_search(cst_rts_own_capability(), begins);
}

/* A call that sleeps needs no processor. A scout that looks for tasks gives its processor to a
 * region when it runs next. The kernel may let it wait until then, for as long as the region takes.
 */
static bool is_spared(unsigned number) {
    return number < KNOWN && cst_load_relaxed(&spared[number]);
}

/* A Capability that is held and runs no Haskell code is about to be released, as between two calls
 * of a green thread. So it counts as idle, unless a thread is ready that a collection or the end of
 * a slice stopped. If all are held, a collection runs, which wants all processors. */
unsigned cst_rts_idle_capabilities(void) {
    unsigned count = cst_rts_capabilities();
    if (gone()) return count;
    void *task = cst_rts_task();
    note_current(task);
    unsigned idle = 0, held = 0;
    for (unsigned i = 0; i < count; i++) {
        Capability *capability = cst_rts_capability(i);
        void *by = capability ? holder(capability) : NULL;
        held += by && by != task;
        idle += by == task || !capability || is_spared(i) ||
                !(runs(capability) || is_wanted(capability));
    }
    return held < count ? idle : 0;
}

unsigned cst_rts_haskell_going_on(void) {
    static _Atomic(const void *) last[KNOWN];
    unsigned count = cst_rts_capabilities();
    if (gone()) return 0;
    void *task = cst_rts_task();
    unsigned going_on = 0;
    for (unsigned i = 0; i < count && i < KNOWN; i++) {
        Capability *capability = cst_rts_capability(i);
        if (!capability || holder(capability) == task || is_spared(i)) continue;
        const void *now = runner(capability);
        going_on += now && now == cst_load_relaxed(&last[i]);
        cst_store_relaxed(&last[i], now);
    }
    return going_on;
}
