/* The user's locks. A simple lock is the lock of core/base/lock.h in the program's own variable.
 * For a nestable lock, the variable holds its address. Sixteen bytes would hold the lock itself,
 * but clang's programs and Fortran's have eight. So code of one compiler may use a lock that code
 * of another has made. */
#include "abi/omp/both.h"
#include "abi/omp/prototypes.h"

#include "abi/gomp/facts.h"
#include "abi/whole.h"
#include "core/front.h"

CST_WHOLE(omp_lock);

_Static_assert(sizeof(omp_lock_t) == GOMP_LOCK_SIZE && sizeof(cst_lock) == GOMP_LOCK_SIZE &&
                   _Alignof(omp_lock_t) == GOMP_LOCK_ALIGNMENT,
               "omp_lock_t has four bytes in every program that GCC compiled");
_Static_assert(sizeof(omp_nest_lock_t) == GOMP_NEST_LOCK_SIZE &&
                   _Alignof(omp_nest_lock_t) == GOMP_NEST_LOCK_ALIGNMENT,
               "omp_nest_lock_t has sixteen");

static cst_lock *simple(omp_lock_t *lock) {
    return (cst_lock *)lock->bytes;
}

static struct cst_nest_lock *nestable(omp_nest_lock_t *lock) {
    return *(struct cst_nest_lock **)lock->bytes;
}

/* Relaxed: no thread may use a lock while it is initialized. */
void omp_init_lock(omp_lock_t *lock) {
    cst_store_relaxed(simple(lock), CST_LOCK_FREE);
}

/* A hint may be ignored; one kind of lock serves all hints well. */
void omp_init_lock_with_hint(omp_lock_t *lock, int hint) {
    (void)hint;
    omp_init_lock(lock);
}

void omp_destroy_lock(omp_lock_t *lock) {
    (void)lock;
}

void omp_set_lock(omp_lock_t *lock) {
    cst_lock_acquire(simple(lock));
}

void omp_unset_lock(omp_lock_t *lock) {
    cst_lock_release(simple(lock));
}

static int tried(uint32_t count) {
    if (cst_unlikely(count == 0)) cst_lock_missed();
    return (int)count;
}

int omp_test_lock(omp_lock_t *lock) {
    return tried(cst_lock_try(simple(lock)));
}

void omp_init_nest_lock(omp_nest_lock_t *lock) {
    struct cst_nest_lock *nest = cst_memory_get("a nestable lock", sizeof *nest);
    cst_store_relaxed(&nest->lock, CST_LOCK_FREE);
    cst_store_relaxed(&nest->owner, NULL);
    nest->count = 0;
    *(struct cst_nest_lock **)lock->bytes = nest;
}

void omp_init_nest_lock_with_hint(omp_nest_lock_t *lock, int hint) {
    (void)hint;
    omp_init_nest_lock(lock);
}

void omp_destroy_nest_lock(omp_nest_lock_t *lock) {
    free(nestable(lock));
    *(struct cst_nest_lock **)lock->bytes = NULL;
}

void omp_set_nest_lock(omp_nest_lock_t *lock) {
    cst_nest_lock_acquire(nestable(lock), cst_own_task());
}

void omp_unset_nest_lock(omp_nest_lock_t *lock) {
    cst_nest_lock_release(nestable(lock));
}

int omp_test_nest_lock(omp_nest_lock_t *lock) {
    return tried(cst_nest_lock_try(nestable(lock), cst_own_task()));
}

/* --- the same for programs of clang --------------------------------------------------------- */

CST_FOR_BOTH(omp_init_lock);
CST_FOR_BOTH(omp_init_lock_with_hint);
CST_FOR_BOTH(omp_destroy_lock);
CST_FOR_BOTH(omp_set_lock);
CST_FOR_BOTH(omp_unset_lock);
CST_FOR_BOTH(omp_test_lock);
CST_FOR_BOTH(omp_init_nest_lock);
CST_FOR_BOTH(omp_init_nest_lock_with_hint);
CST_FOR_BOTH(omp_destroy_nest_lock);
CST_FOR_BOTH(omp_set_nest_lock);
CST_FOR_BOTH(omp_unset_nest_lock);
CST_FOR_BOTH(omp_test_nest_lock);
