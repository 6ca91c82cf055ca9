/* Callbacks: C code calls a thunk, and the thread's coroutine evaluates the Haskell function.
 * OpenMP's regions determine the coroutine and its life, so this file decides on them: a coroutine
 * lasts until the end of the region in which it began. */
#ifdef __GLASGOW_HASKELL__ /* only in a Haskell program */
#include "abi/capstan/callback.h"

#include "abi/whole.h"
#include "core/front.h"

#include <errno.h>
#include <stdlib.h>

CST_WHOLE(capstan_callback);

static void fail(struct cst_callback *callback, enum cst_callback_state state) {
    uint32_t open = CST_CALLBACK_OPEN;
    /* The first failure counts. It is read after the region's end, which orders it. */
    cst_cas_relaxed(&callback->state, &open, state);
}

void cst_callback_fail(struct cst_callback *callback) {
    fail(callback, CST_CALLBACK_FAILED);
}

static bool has_failed(struct cst_callback *callback) {
    return cst_load_relaxed(&callback->state) != CST_CALLBACK_OPEN;
}

/* Is the thread in C that Haskell called by an unsafe foreign call? A kept coroutine holds its
 * Capability as well, but gives it back before it waits. */
static bool entered_unsafely(struct cst_thread *thread) {
    struct cst_coroutine *coroutine = *cst_coroutine_of(thread);
    if (coroutine && !cst_coroutine_is_busy(coroutine)) return false;
    return cst_coroutine_holds_capability();
}

/* The reason why the thread may not begin a coroutine; CST_CALLBACK_OPEN: it may. */
static enum cst_callback_state objection(struct cst_thread *thread, struct cst_callback *callback) {
    if (callback->forks != cst_coroutine_forks()) return CST_CALLBACK_FORKED;
    if (!cst_coroutine_rts_runs()) return CST_CALLBACK_ENDED;
    if (!cst_coroutine_any_thread() && callback->maker != thread) return CST_CALLBACK_NOT_THREADED;
    if (cst_region_is_unsafe(thread) || entered_unsafely(thread)) return CST_CALLBACK_UNSAFE;
    return CST_CALLBACK_OPEN;
}

/* May the coroutine serve later calls? It may if the end of the region in which the C code runs
 * will end it. It may not outside of regions, nor for a task that a worker executes after its
 * arrival at the region's end. It may not within the region of a callback that is being evaluated
 * either, since that callback's Haskell code might return before. */
static bool may_last(struct cst_thread *thread) {
    struct cst_coroutine *outer = *cst_coroutine_of(thread);
    return cst_coroutine_any_thread() && cst_coroutine_will_end(thread) &&
           !(outer && outer->owner == cst_coroutine_owner(thread));
}

static bool is_over(const struct cst_coroutine *coroutine) {
    return coroutine && coroutine->state == CST_COROUTINE_OVER;
}

/* Begins a coroutine: for the first call of a thread in a region, or for a call from C code that a
 * callback has called. */
static void begin(struct cst_thread *thread, struct cst_callback *callback, struct cst_call *call) {
    if (has_failed(callback)) return;
    /* The coroutine was killed when it gave its Capability back. */
    if (is_over(*cst_coroutine_of(thread))) cst_coroutine_end(cst_coroutine_of(thread));
    enum cst_callback_state reason = objection(thread, callback);
    if (reason == CST_CALLBACK_OPEN) {
        if (!cst_coroutine_begin(cst_coroutine_of(thread), cst_coroutine_owner(thread),
                                 may_last(thread), callback, call))
            reason = CST_CALLBACK_NO_MEMORY;
    }
    if (reason != CST_CALLBACK_OPEN) fail(callback, reason);
}

/* A failed callback returns zero, and its region is cancelled if the program allows that. This
 * function and the next are not inline: all other calls would save registers for them. */
static __attribute__((noinline, cold)) void
finish(struct cst_thread *thread, struct cst_callback *callback, struct cst_call *call) {
    if (is_over(*cst_coroutine_of(thread))) cst_coroutine_end(cst_coroutine_of(thread));
    if (!has_failed(callback)) return;
    call->integer[0] = call->real[0] = 0;
    if (cst_config.cancellation && !cst_region_is_cancelled(thread)) cst_region_cancel(thread);
}

static __attribute__((noinline, cold)) void
call_first(struct cst_thread *thread, struct cst_callback *callback, struct cst_call *call) {
    int saved = errno;
    begin(thread, callback, call);
    finish(thread, callback, call);
    errno = saved;
}

static void call_haskell(struct cst_callee *callee, struct cst_call *call) {
    struct cst_callback *callback = (struct cst_callback *)callee;
    struct cst_thread *thread = cst_self();
    struct cst_coroutine *coroutine = *cst_coroutine_of(thread);
    if (cst_unlikely(!coroutine || cst_coroutine_is_busy(coroutine) || has_failed(callback))) {
        call_first(thread, callback, call);
        return;
    }
    int saved = *coroutine->error;
    cst_coroutine_call(coroutine, callback, call);
    *coroutine->error = saved;
    if (cst_unlikely(is_over(coroutine) || has_failed(callback))) {
        finish(thread, callback, call);
        errno = saved;
    }
}

/* --- called by Haskell -------------------------------------------------------------------- */

static void call_ended(struct cst_callee *callee, struct cst_call *call) {
    (void)callee, (void)call;
    cst_message_fatal("C code called a callback that has ended");
}

void cst_callback_prepare(void) {
    cst_coroutine_prepare();
    cst_team_entered_unsafely = entered_unsafely;
}

struct cst_callback *cst_callback_open(void *target) {
    struct cst_callback *callback = malloc(sizeof *callback);
    if (!callback) return NULL;
    *callback = (struct cst_callback){.callee = {call_haskell},
                                      .target = target,
                                      .forks = cst_coroutine_forks(),
                                      .maker = cst_self()};
    callback->thunk = cst_thunk_make(&callback->callee);
    if (callback->thunk) return callback;
    free(callback);
    return NULL;
}

void *cst_callback_function(struct cst_callback *callback) {
    return callback->thunk;
}

uint32_t cst_callback_close(struct cst_callback *callback) {
    static struct cst_callee ended = {call_ended};
    uint32_t state = cst_load_acquire(&callback->state);
    cst_thunk_free(callback->thunk, &ended);
    free(callback);
    return state;
}

#endif
