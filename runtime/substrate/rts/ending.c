/* The end of a guest that cannot continue.
 *
 * GHC's runtime system ends the process if it gets no memory or no thread, or finds an error of its
 * own. It exits with a status of GHC's, aborts, or calls a hook that is not set yet. A guest must
 * not decide that, so these calls lead to this file (guest.c, imports.c):
 *
 * - While the RTS starts, the start has failed, and the caller continues without it. The threads
 *   that the RTS has by then end here, so that they do not keep alive a process whose own threads
 *   have ended.
 * - A thread that called the RTS by cst_rts_try returns from there.
 * - Otherwise the process ends with a message and status 1.
 *
 * No thread calls an RTS whose start has failed, and no thread needs the locks that its threads
 * held. */
#ifdef CST_SHARED_LIBRARY
#include "substrate/rts/rts.h"

#include "platform/atomic.h"
#include "platform/platform.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Not declared, as of GHC 9.0. */
extern RtsMsgFunction *sysErrorMsgFn;

enum { STARTING = 1, STARTED, FAILED };

/* A thread that can continue at a place. A list holds it, not thread-local memory: the loader gets
 * that of a late library from malloc, and ends the process if malloc fails. */
struct attempt {
    jmp_buf place;
    pthread_t thread;
    struct attempt *next;
};

static struct {
    _Atomic uint32_t state; /* futex */
    pthread_mutex_t lock;   /* of the other fields */
    struct attempt *attempts;
    struct attempt *threads; /* of the start; each would return from its function */
    char text[400];          /* the RTS's last message, or the cause of the failure */
} guest = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void enter(struct attempt **list, struct attempt *attempt) {
    attempt->thread = pthread_self();
    pthread_mutex_lock(&guest.lock);
    attempt->next = *list;
    *list = attempt;
    pthread_mutex_unlock(&guest.lock);
}

/* Takes the thread out of the list; NULL: it is not in it. */
static struct attempt *leave(struct attempt **list) {
    pthread_t self = pthread_self();
    pthread_mutex_lock(&guest.lock);
    struct attempt **link = list;
    while (*link && !pthread_equal((*link)->thread, self)) link = &(*link)->next;
    struct attempt *found = *link;
    if (found) *link = found->next;
    pthread_mutex_unlock(&guest.lock);
    return found;
}

bool cst_rts_try(void (*function)(void *), void *argument) {
    struct attempt attempt;
    enter(&guest.attempts, &attempt);
    if (setjmp(attempt.place) != 0) return false; /* give_up has taken it out of the list */
    function(argument);
    leave(&guest.attempts);
    return true;
}

bool cst_rts_is_starting(void) {
    return cst_load_acquire(&guest.state) != STARTED;
}

static void note(const char *text) {
    pthread_mutex_lock(&guest.lock);
    if (cst_load_relaxed(&guest.state) != FAILED)
        snprintf(guest.text, sizeof guest.text, "%s", text);
    pthread_mutex_unlock(&guest.lock);
}

void *cst_rts_thread_run(void *(*function)(void *), void *argument) {
    struct attempt attempt;
    enter(&guest.threads, &attempt);
    if (setjmp(attempt.place) != 0) return NULL;
    void *result = function(argument);
    /* Later no thread reads the list, in which threads that GHC ended otherwise may remain. */
    if (cst_rts_is_starting()) leave(&guest.threads);
    return result;
}

/* Ends a thread of a failed start. A thread that is not in the list sleeps for ever. */
static _Noreturn void end_thread(void) {
    static _Atomic uint32_t nobody;
    struct attempt *attempt = leave(&guest.threads);
    if (attempt) longjmp(attempt->place, 1);
    for (;;) cst_futex_wait(&nobody, 0);
}

/* `text` is NULL if the RTS has reported the cause. */
static _Noreturn void give_up(const char *text) {
    if (cst_rts_is_starting()) {
        if (text) note(text);
        cst_rts_start_ends(false);
        end_thread();
    }
    struct attempt *attempt = leave(&guest.attempts);
    if (attempt) longjmp(attempt->place, 1);
    if (text) fprintf(stderr, "capstan: GHC's runtime system: %s\n", text);
    exit(EXIT_FAILURE);
}

/* --- its messages ------------------------------------------------------------------------- */

/* While the RTS starts, its message becomes the reported reason. Later it is passed on. */
static void hear(const char *format, va_list arguments, int error) {
    char text[sizeof guest.text];
    vsnprintf(text, sizeof text - 64, format, arguments);
    for (char *end = text + strlen(text); end > text && end[-1] == '\n';) *--end = '\0';
    if (error) snprintf(text + strlen(text), 64, ": error %d", error);
    if (cst_rts_is_starting())
        note(text);
    else
        fprintf(stderr, "capstan: GHC's runtime system: %s\n", text);
}

static void hear_error(const char *format, va_list arguments) {
    hear(format, arguments, 0);
}

static void hear_system_error(const char *format, va_list arguments) {
    hear(format, arguments, errno);
}

static void hear_fatal_error(const char *format, va_list arguments) {
    hear(format, arguments, 0);
    give_up(NULL);
}

/* --- the start ---------------------------------------------------------------------------- */

void cst_rts_start_begins(void) {
    cst_store_relaxed(&guest.state, STARTING);
    errorMsgFn = hear_error;
    sysErrorMsgFn = hear_system_error;
    fatalInternalErrorFn = hear_fatal_error;
}

void cst_rts_start_ends(bool well) {
    uint32_t starting = STARTING;
    /* Pairs with the acquire in cst_rts_start_await: publishes the started RTS, or the reason. */
    if (cst_cas_release(&guest.state, &starting, well ? STARTED : FAILED))
        cst_futex_wake(&guest.state, 1);
}

bool cst_rts_start_await(const char **reason) {
    uint32_t state;
    while ((state = cst_load_acquire(&guest.state)) == STARTING)
        cst_futex_wait(&guest.state, STARTING);
    if (state == FAILED) *reason = guest.text;
    return state == STARTED;
}

/* --- calls of the RTS ------------------------------------------------------------------------ */

static void *no_memory(size_t size) {
    char text[80];
    snprintf(text, sizeof text, "out of memory allocating %zu bytes", size);
    give_up(text);
}

/* A wait for a condition may return spuriously. So while the RTS starts, this one returns every 100
 * ms, and the thread ends if the start has failed. */
int cst_rts_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    enum { LOOK_NS = 100000000 };
    if (!cst_rts_is_starting()) return pthread_cond_wait(condition, mutex);
    if (cst_load_acquire(&guest.state) == STARTING) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_NS;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        (void)pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &until);
    }
    if (cst_load_acquire(&guest.state) != FAILED) return 0;
    pthread_mutex_unlock(mutex);
    end_thread();
}

void *cst_rts_malloc(size_t size) {
    void *memory = malloc(size);
    return memory || size == 0 ? memory : no_memory(size);
}

void *cst_rts_calloc(size_t count, size_t size) {
    void *memory = calloc(count, size);
    return memory || count == 0 || size == 0 ? memory : no_memory(count * size);
}

void *cst_rts_realloc(void *old, size_t size) {
    void *memory = realloc(old, size);
    return memory || size == 0 ? memory : no_memory(size);
}

char *cst_rts_strdup(const char *text) {
    char *copy = strdup(text);
    return copy ? copy : no_memory(strlen(text) + 1);
}

void *cst_rts_commit(void *address, size_t size, int protection, int flags, int file,
                     off_t offset) {
    void *memory = mmap(address, size, protection, flags, file, offset);
    return memory != MAP_FAILED ? memory : no_memory(size);
}

void cst_rts_exit(int status) {
    (void)status; /* a status of GHC's, without meaning for the host */
    give_up(NULL);
}

void cst_rts_abort(void) {
    give_up(NULL);
}

#endif
