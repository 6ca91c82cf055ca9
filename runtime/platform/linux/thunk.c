/* Thunks: functions made at run time; see stack.h.
 *
 * A block is a page of code and a page of data at a fixed distance. Thunk i of the code finds datum
 * i of the data by that distance, so all thunks are the same few instructions. They are written
 * once, made executable, and never written again. Only data changes. */
#include "platform/stack.h"

#include "platform/atomic.h"
#include "thunk.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

/* In stack.S. It expects the address of the datum in a register, from the code of the thunk. */
void cst_thunk_enter(void);

struct datum {
    /* Relaxed suffices: a thread that gets the thunk has synchronised with its maker. */
    _Atomic(struct cst_callee *) callee;
    void (*enter)(void);
    struct datum *next; /* in the list of free data */
    void *unused;
};

enum { COUNT = DISTANCE / sizeof(struct datum) }; /* in a block */
_Static_assert(sizeof code <= sizeof(struct datum), "thunk i lies DISTANCE before datum i");

/* The free data, oldest first: the datum that has been free for longest is reused next. So a call
 * of a function that has ended is probably noticed. */
static struct {
    pthread_mutex_t lock;
    struct datum *first, *last;
} vacant = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Called under the lock. */
static void append(struct datum *datum) {
    datum->next = NULL;
    if (vacant.first)
        vacant.last->next = datum;
    else
        vacant.first = datum;
    vacant.last = datum;
}

/* Around a fork. */
static void lock(void) {
    pthread_mutex_lock(&vacant.lock);
}

static void unlock(void) {
    pthread_mutex_unlock(&vacant.lock);
}

/* Called under the lock. A system that forbids to make code refuses the mprotect. */
static void add_block(void) {
    char *block = mmap(NULL, 2 * (size_t)DISTANCE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return;
    for (size_t i = 0; i < COUNT; i++) memcpy(block + i * sizeof(struct datum), code, sizeof code);
    __builtin___clear_cache(block, block + DISTANCE);
    if (mprotect(block, DISTANCE, PROT_READ | PROT_EXEC) != 0) {
        munmap(block, 2 * (size_t)DISTANCE);
        return;
    }
    struct datum *data = (struct datum *)(block + DISTANCE);
    for (size_t i = 0; i < COUNT; i++) {
        data[i].enter = cst_thunk_enter;
        append(&data[i]);
    }
}

static void prepare(void) {
    pthread_atfork(lock, unlock, unlock);
}

void *cst_thunk_make(struct cst_callee *callee) {
    int saved = errno;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    lock();
    if (!vacant.first) add_block();
    struct datum *datum = vacant.first;
    if (datum) vacant.first = datum->next;
    unlock();
    errno = saved;
    if (!datum) return NULL;
    cst_store_relaxed(&datum->callee, callee);
    return (char *)datum - DISTANCE;
}

void cst_thunk_free(void *thunk, struct cst_callee *instead) {
    struct datum *datum = (struct datum *)((char *)thunk + DISTANCE);
    cst_store_relaxed(&datum->callee, instead);
    lock();
    append(datum);
    unlock();
}
