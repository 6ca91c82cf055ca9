/* Haskell coroutines of C threads: see substrate/coroutine.h, and README.md, "Callbacks".
 *
 * GHC sees nothing unusual: a thread in C makes a call in (rts_lock, rts_evalIO, rts_unlock), whose
 * Haskell code makes foreign calls (Capstan.Internal.Coroutine). But the foreign calls last long,
 * because C continues on its own stack meanwhile. And the call in runs on a side stack. */
#if defined(__GLASGOW_HASKELL__) && !defined(CST_SHARED_LIBRARY)
#include "substrate/coroutine.h"

#include "substrate/rts/rts.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

/* It has lines of its own, because every callback writes it. Where the allocator put it, two
 * threads that made callbacks at once took twice the time of a single thread in most processes. */
struct side {
    CST_LINE_ALIGNED struct cst_coroutine public; /* first, so that pointers to both are equal */
    unsigned capability;                          /* that it is counted on */
    struct cst_stack stack;
    size_t stack_size; /* as requested */
    struct side *next; /* free ones */
};

/* Known to Capstan.Internal.Coroutine. */
_Static_assert(
    offsetof(struct side, public) == 0 && offsetof(struct cst_coroutine, code) == 48 &&
        offsetof(struct cst_coroutine, callback) == 56 &&
        offsetof(struct cst_coroutine, call) == 64 &&
        offsetof(struct cst_coroutine, lasting) == 72 &&
        offsetof(struct cst_coroutine, state) == 73 &&
        offsetof(struct cst_coroutine, release) == 80 && offsetof(struct cst_release, due) == 0 &&
        offsetof(struct cst_release, credit) == 4 && offsetof(struct cst_release, registers) == 8 &&
        offsetof(struct cst_release, task) == 16 && offsetof(struct cst_release, mine) == 24 &&
        offsetof(struct cst_release, own) == 32 && offsetof(struct cst_release, spare) == 40 &&
        offsetof(struct cst_callback, target) == 8 && CST_COROUTINE_KEPT == 0 &&
        CST_COROUTINE_DEFERRED == 1 && CST_COROUTINE_RELEASED == 2 && CST_RELEASE_IS_DUE == 1,
    "Haskell reads these");

#pragma GCC visibility push(default) /* as in coroutine.h */
extern struct cst_callback cst_coroutine_release;
struct cst_callback cst_coroutine_release;
#pragma GCC visibility pop

enum { CAPABILITIES = 1024 }; /* that are distinguished */

static struct {
    pthread_mutex_t lock; /* for a few instructions at a coroutine's begin and end */
    struct side *vacant;
    size_t stack_size;
    unsigned forks;               /* forks since the first process; constant */
    unsigned users[CAPABILITIES]; /* coroutines that run on each Capability */
} sides = {.lock = PTHREAD_MUTEX_INITIALIZER, .stack_size = (size_t)1 << 20};

/* Haskell's side: Ptr side -> IO (), as a stable pointer. Set before the first callback is made. */
static HsStablePtr serve;

/* --- called by Haskell (Capstan.Internal.Coroutine) ---------------------------------------- */

#pragma GCC visibility push(default) /* as in coroutine.h */
void cst_coroutine_set_server(HsStablePtr server) {
    serve = server;
}
#pragma GCC visibility pop

/* --- a coroutine's life ------------------------------------------------------------------- */

static struct side *side_of(struct cst_coroutine *coroutine) {
    return (struct side *)coroutine;
}

/* Makes the call in: on the side stack or, for a coroutine that does not last, on the thread's
 * own. */
static void call_in(struct side *side) {
    rts_setInCallCapability((int)side->capability, 0);
    Capability *capability = rts_lock();
    rts_setInCallCapability(-1, 0); /* any Capability again, for other calls of this thread */
    HaskellObj action =
        rts_apply(capability, (HaskellObj)deRefStablePtr(serve), rts_mkPtr(capability, side));
    /* The evaluation ends early if the RTS ends, or if a thread kills it; then the call has no
     * result. */
    rts_evalIO(&capability, action, NULL);
    bool ends = rts_getSchedStatus(capability) == Interrupted;
    rts_unlock(capability);
    side->public.state = CST_COROUTINE_OVER;
    uint32_t open = CST_CALLBACK_OPEN;
    struct cst_callback *callback = side->public.callback;
    if (callback && callback != &cst_coroutine_release)
        cst_cas_relaxed(&callback->state, &open, ends ? CST_CALLBACK_ENDED : CST_CALLBACK_KILLED);
}

static void run(void *argument) {
    struct side *side = argument;
    call_in(side);
    cst_stack_switch(&side->public.haskell, &side->public.c);
}

static void put_back(struct side *side) {
    pthread_mutex_lock(&sides.lock);
    sides.users[side->capability]--;
    side->next = sides.vacant;
    sides.vacant = side;
    pthread_mutex_unlock(&sides.lock);
}

/* The Capability for a new coroutine, which stays on it. The choice is a Capability with the fewest
 * coroutines and without running Haskell code. Among equals it is the Capability of the thread's
 * own Haskell code. Called under the lock. */
static unsigned choose_capability(unsigned own) {
    unsigned count = cst_rts_capabilities();
    if (count > CAPABILITIES) count = CAPABILITIES;
    unsigned best = own < count ? own : 0, least = UINT_MAX;
    for (unsigned i = 0; i < count && least > 0; i++) {
        unsigned candidate = (best + i) % count;
        unsigned load = 2 * sides.users[candidate] + cst_rts_haskell_runs(candidate);
        if (load < least) {
            own = candidate;
            least = load;
        }
    }
    sides.users[own]++;
    return own;
}

static bool has_stack(struct side *side, size_t size) {
    if (side->stack.base && side->stack_size == size) return true;
    if (side->stack.base) cst_stack_free(&side->stack);
    side->stack.base = NULL;
    side->stack_size = size;
    return cst_stack_make(&side->stack, size);
}

static struct side *take(bool lasting) {
    unsigned own = cst_rts_own_capability();
    pthread_mutex_lock(&sides.lock);
    struct side *side = sides.vacant;
    if (side) sides.vacant = side->next;
    size_t size = sides.stack_size;
    unsigned capability = choose_capability(own);
    pthread_mutex_unlock(&sides.lock);
    if (!side) {
        side = aligned_alloc(CST_CACHE_LINE, sizeof *side);
        if (!side) return NULL;
        *side = (struct side){0};
        cst_release_init(&side->public.release);
    }
    side->capability = capability;
    if (!lasting || has_stack(side, size)) return side;
    put_back(side);
    return NULL;
}

static void give_back(struct cst_coroutine *coroutine) {
    if (coroutine->state == CST_COROUTINE_DEFERRED) {
        cst_release_now(&coroutine->release);
        coroutine->state = CST_COROUTINE_RELEASED;
    } else {
        coroutine->release.credit = 0;
        cst_coroutine_call(coroutine, &cst_coroutine_release, NULL);
    }
}

/* Frees the Task that C's own calls into Haskell used while a release was due. */
static void free_spare_task(struct cst_release *release) {
    if (!release->spare || cst_rts_state() != CST_RTS_RUNNING) return;
    void *own = *release->mine;
    *release->mine = release->spare;
    hs_thread_done();
    *release->mine = own;
    release->spare = NULL;
}

static void end(struct cst_coroutine *coroutine) {
    if (coroutine->state != CST_COROUTINE_OVER) cst_coroutine_call(coroutine, NULL, NULL);
    free_spare_task(&coroutine->release);
    put_back(side_of(coroutine));
}

bool cst_coroutine_begin(struct cst_coroutine **top, const void *owner, bool lasting,
                         struct cst_callback *callback, struct cst_call *call) {
    struct side *side = take(lasting);
    if (!side) return false;
    struct cst_coroutine *coroutine = &side->public;
    coroutine->callback = callback;
    coroutine->call = call;
    coroutine->lasting = lasting;
    coroutine->state = CST_COROUTINE_BUSY;
    coroutine->error = &errno;
    coroutine->below = *top;
    coroutine->owner = owner;
    coroutine->give_back = give_back;
    coroutine->end = end;
    cst_release_begin(&coroutine->release, cst_rts_task_word());
    *top = coroutine;
    if (lasting)
        cst_stack_begin(&coroutine->c, side->stack.top, run, side);
    else
        call_in(side);
    return true;
}

bool cst_coroutine_rts_runs(void) {
    return cst_rts_state() == CST_RTS_RUNNING;
}

bool cst_coroutine_any_thread(void) {
    return rtsSupportsBoundThreads();
}

/* Without -threaded: the thread that runs Haskell code. It has prepared callbacks. */
static pthread_t only_thread;

bool cst_coroutine_holds_capability(void) {
    if (rtsSupportsBoundThreads()) return cst_rts_holds_capability();
    return pthread_equal(pthread_self(), only_thread) && cst_rts_haskell_runs(0);
}

/* Around a fork: the child of Haskell's forkProcess may make callbacks. */
static void lock_sides(void) {
    pthread_mutex_lock(&sides.lock);
    cst_release_hold();
}

static void unlock_sides(void) {
    cst_release_go_on();
    pthread_mutex_unlock(&sides.lock);
}

static void unlock_in_child(void) {
    sides.forks++;
    cst_release_forget();
    pthread_mutex_unlock(&sides.lock);
}

unsigned cst_coroutine_forks(void) {
    return sides.forks;
}

/* A name of GHC's debugging runtime system, which checks that the thread that releases a Capability
 * also holds it. Only the static linker sees the name. */
extern char checkSanity[] __attribute__((weak));

/* Any thread may make this call (rts/Schedule.c: suspendThread). */
static void *release_for(void *registers) {
    return suspendThread(registers, 0);
}

static void *learn_task(void *nothing) {
    cst_rts_learn_task();
    return nothing;
}

void cst_coroutine_prepare(void) {
    pthread_t thread;
    pthread_atfork(lock_sides, unlock_sides, unlock_in_child);
    cst_rts_observe();
    if (!rtsSupportsBoundThreads()) { /* then a thread's Task is not thread-local */
        only_thread = pthread_self();
        cst_rts_note_capability(0, rts_unsafeGetMyCapability());
        return;
    }
    if (cst_rts_returning_offset && cst_rts_queued_offset && !rts_isDynamic() && !checkSanity)
        cst_release_allow(release_for);
    if (pthread_create(&thread, NULL, learn_task, NULL) == 0) pthread_join(thread, NULL);
}

void cst_coroutine_set_stack_size(size_t size) {
    pthread_mutex_lock(&sides.lock);
    sides.stack_size = size;
    pthread_mutex_unlock(&sides.lock);
}

#endif
