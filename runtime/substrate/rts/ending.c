/* What becomes of a guest that cannot go on.
 *
 * GHC's runtime system ends the process where it finds no memory, no thread or an error of its own:
 * with a status of GHC's, by abort, or by a call of a hook that is not set yet. As a guest it does
 * not decide that. What it calls then leads here (guest.c, imports.c):
 *
 * - while it starts, the start has failed, and who waits for it does without; the threads that it
 *   has by then end where they come by, lest they keep alive a process whose own have ended;
 * - a thread that called it by cst_rts_try goes on there;
 * - else the process ends with a message and status 1.
 *
 * Nobody calls an RTS again whose start has failed, and what its threads held nobody wants. */
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

/* A thread that goes on at a place. In a list, as thread-local memory of a library that is opened
 * late is itself got from malloc, and by the loader, which ends the process without. */
struct attempt {
    jmp_buf place;
    pthread_t thread;
    struct attempt *next;
};

static struct {
    _Atomic uint32_t state; /* futex */
    pthread_mutex_t lock;   /* of the rest */
    struct attempt *attempts;
    struct attempt *threads; /* of the start; each goes on at its own end */
    char text[400];          /* what the RTS said last, or what failed */
} guest = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void enter(struct attempt **list, struct attempt *attempt) {
    attempt->thread = pthread_self();
    pthread_mutex_lock(&guest.lock);
    attempt->next = *list;
    *list = attempt;
    pthread_mutex_unlock(&guest.lock);
}

/* Out of the list; NULL: the thread is in none. */
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
    if (setjmp(attempt.place) != 0) return false; /* it is out of the list */
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
    /* Later nobody looks into the list, in which one that GHC ended otherwise may be left. */
    if (cst_rts_is_starting()) leave(&guest.threads);
    return result;
}

/* The start has failed: its thread ends. One that is not known stays. */
static _Noreturn void end_thread(void) {
    static _Atomic uint32_t nobody;
    struct attempt *attempt = leave(&guest.threads);
    if (attempt) longjmp(attempt->place, 1);
    for (;;) cst_futex_wait(&nobody, 0);
}

/* `text`: NULL: the RTS has told why. */
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

/* --- what it says ------------------------------------------------------------------------- */

/* While it starts, what it says is the reason that is told; later it is passed on. */
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
    /* Pairs with the acquire in cst_rts_start_await: what was done, or said, is seen there. */
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

/* --- what it calls ------------------------------------------------------------------------ */

static void *no_memory(size_t size) {
    char text[80];
    snprintf(text, sizeof text, "out of memory allocating %zu bytes", size);
    give_up(text);
}

/* Who waits for a condition may be woken for none: so while it starts, a thread is, time and again,
 * and ends if the start has failed. */
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
    (void)status; /* one of GHC's, which means nothing to the host */
    give_up(NULL);
}

void cst_rts_abort(void) {
    give_up(NULL);
}

#endif
