/* Threads for the RTS, made before it asks for them.
 *
 * The RTS ends the process if it cannot create a thread. So a guest makes the threads of hs_init
 * first, and refuses to boot if they are not available. They start with all signals blocked: a
 * signal to the process is for the host's own threads. */
#ifdef CST_SHARED_LIBRARY
#include "substrate/rts/rts.h"

#include "platform/platform.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { WAITING, RUNNING, DISMISSED };

struct spare {
    _Atomic uint32_t state; /* futex; the taker of the spare writes it once */
    pthread_t thread;
    void *(*function)(void *);
    void *argument;
    struct spare *next;
};

/* The list of spares. Threads of the RTS take from it under a lock, in hs_init. The child of a fork
 * never boots an RTS (core/process/life.c), so a lock that was held at the fork is harmless. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct spare *spares;

static void *wait_for_work(void *argument) {
    struct spare *spare = argument;
    while (cst_load_acquire(&spare->state) == WAITING) cst_futex_wait(&spare->state, WAITING);
    bool wanted = cst_load_relaxed(&spare->state) == RUNNING;
    void *(*function)(void *) = spare->function;
    void *work = spare->argument;
    free(spare);
    return wanted ? cst_rts_thread_run(function, work) : NULL;
}

/* Sets the state, with a release of the spare's fields. The spare may be freed at once. */
static void wake(struct spare *spare, uint32_t state) {
    cst_store_release(&spare->state, state); /* pairs with the acquire in wait_for_work */
    cst_futex_wake(&spare->state, 1);
}

static struct spare *take(void) {
    pthread_mutex_lock(&lock);
    struct spare *spare = spares;
    if (spare) spares = spare->next;
    pthread_mutex_unlock(&lock);
    return spare;
}

/* Creates a thread with all signals blocked. */
static int create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                  void *argument) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, attributes, function, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Creates such a thread. While the runtime system starts, ending.c gets to know it. */
static int create_known(pthread_t *thread, const pthread_attr_t *attributes,
                        void *(*function)(void *), void *argument) {
    if (!cst_rts_is_starting()) return create(thread, attributes, function, argument);
    struct spare *spare = malloc(sizeof *spare);
    if (!spare) return ENOMEM;
    *spare = (struct spare){.function = function, .argument = argument, .state = RUNNING};
    int error = create(thread, attributes, wait_for_work, spare);
    if (error) free(spare);
    return error;
}

static int make_one(void) {
    struct spare *spare = malloc(sizeof *spare);
    if (!spare) return ENOMEM;
    *spare = (struct spare){.next = spares};
    int error = create(&spare->thread, NULL, wait_for_work, spare);
    if (error) {
        free(spare);
        return error;
    }
    spares = spare;
    return 0;
}

int cst_rts_spare_make(unsigned count) {
    int error = 0;
    for (unsigned i = 0; i < count && !error; i++) error = make_one();
    if (error) cst_rts_spare_dismiss();
    return error;
}

void cst_rts_spare_dismiss(void) {
    struct spare *spare;
    while ((spare = take())) {
        pthread_detach(spare->thread);
        wake(spare, DISMISSED);
    }
}

int cst_rts_spare_create(pthread_t *thread, const pthread_attr_t *attributes,
                         void *(*function)(void *), void *argument) {
    struct spare *spare = take();
    if (!spare) return create_known(thread, attributes, function, argument);
    *thread = spare->thread;
    spare->function = function;
    spare->argument = argument;
    wake(spare, RUNNING);
    return 0;
}

#endif
