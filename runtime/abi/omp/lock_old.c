/* The lock calls of OpenMP 2.5, symbol version OMP_1.0: programs of GCC 4.2 and 4.3 still name
 * them. Simple locks are those of newer programs; nestable locks have eight bytes and belong to a
 * thread. Only the shared library has symbol versions, so only it has this file's contents. */
#ifdef CST_SHARED_LIBRARY

#include "abi/omp/prototypes.h"

#include "abi/gomp/facts.h"
#include "core/front.h"
#include "platform/happens.h"

#include "platform/platform.h"

#include <sys/syscall.h>
#include <unistd.h>

/* The lock word names the owning thread, as there is no room for more. It is 0 if the lock is free,
 * else the thread's id, plus SLEEPERS if a thread may sleep on it. */
struct old_nest_lock {
    _Atomic uint32_t owner;
    uint32_t count; /* the holder's */
};
_Static_assert(sizeof(struct old_nest_lock) == GOMP_OLD_NEST_LOCK_SIZE, "eight bytes");

#define SLEEPERS 0x80000000u /* Linux's thread ids have at most 22 bits */

/* Makes a system call each time, as these programs are rare. */
static uint32_t me(void) {
    return (uint32_t)syscall(SYS_gettid);
}

/* Orders as in core/base/lock.h: acquire pairs with the release of the previous holder. */
static int enter(struct old_nest_lock *nest, int block) {
    uint32_t self = me(), found = 0, mine = self;
    while (!cst_cas_acquire(&nest->owner, &found, mine)) {
        if ((found & ~SLEEPERS) == self) return (int)++nest->count;
        if (!block) return 0;
        /* Announces the sleep, unless that has been done or the lock has become free. */
        if (found & SLEEPERS || cst_cas_acquire(&nest->owner, &found, found | SLEEPERS))
            cst_futex_wait(&nest->owner, found | SLEEPERS);
        mine = self | SLEEPERS; /* others may sleep as well; if not, one wake-up is needless */
        found = 0;
    }
    cst_happens_after(nest);
    return (int)(nest->count = 1);
}

static void leave(struct old_nest_lock *nest) {
    if (--nest->count > 0) return;
    cst_happens_before(nest);
    if (cst_exchange_release(&nest->owner, 0) & SLEEPERS) cst_futex_wake(&nest->owner, 1);
}

#define OLD(type, name) __attribute__((used, visibility("default"))) type old_##name
#define BIND(name) __asm__(".symver old_" #name "," #name "@OMP_1.0")

OLD(void, omp_init_lock)(omp_lock_t *lock) {
    omp_init_lock(lock);
}
OLD(void, omp_destroy_lock)(omp_lock_t *lock) {
    omp_destroy_lock(lock);
}
OLD(void, omp_set_lock)(omp_lock_t *lock) {
    omp_set_lock(lock);
}
OLD(void, omp_unset_lock)(omp_lock_t *lock) {
    omp_unset_lock(lock);
}
OLD(int, omp_test_lock)(omp_lock_t *lock) {
    return omp_test_lock(lock);
}

OLD(void, omp_init_nest_lock)(struct old_nest_lock *nest) {
    cst_store_relaxed(&nest->owner, 0);
    nest->count = 0;
}
OLD(void, omp_destroy_nest_lock)(struct old_nest_lock *nest) {
    (void)nest;
}
OLD(void, omp_set_nest_lock)(struct old_nest_lock *nest) {
    enter(nest, 1);
}
OLD(void, omp_unset_nest_lock)(struct old_nest_lock *nest) {
    leave(nest);
}
OLD(int, omp_test_nest_lock)(struct old_nest_lock *nest) {
    return enter(nest, 0);
}

/* Fortran's integer(omp_nest_lock_kind) has eight bytes, so it is the lock itself. */
OLD(void, omp_init_lock_)(omp_lock_t *lock) {
    omp_init_lock(lock);
}
OLD(void, omp_destroy_lock_)(omp_lock_t *lock) {
    omp_destroy_lock(lock);
}
OLD(void, omp_set_lock_)(omp_lock_t *lock) {
    omp_set_lock(lock);
}
OLD(void, omp_unset_lock_)(omp_lock_t *lock) {
    omp_unset_lock(lock);
}
OLD(int32_t, omp_test_lock_)(omp_lock_t *lock) {
    return omp_test_lock(lock);
}
OLD(void, omp_init_nest_lock_)(struct old_nest_lock *nest) {
    old_omp_init_nest_lock(nest);
}
OLD(void, omp_destroy_nest_lock_)(struct old_nest_lock *nest) {
    (void)nest;
}
OLD(void, omp_set_nest_lock_)(struct old_nest_lock *nest) {
    enter(nest, 1);
}
OLD(void, omp_unset_nest_lock_)(struct old_nest_lock *nest) {
    leave(nest);
}
OLD(int32_t, omp_test_nest_lock_)(struct old_nest_lock *nest) {
    return enter(nest, 0);
}

BIND(omp_init_lock);
BIND(omp_destroy_lock);
BIND(omp_set_lock);
BIND(omp_unset_lock);
BIND(omp_test_lock);
BIND(omp_init_nest_lock);
BIND(omp_destroy_nest_lock);
BIND(omp_set_nest_lock);
BIND(omp_unset_nest_lock);
BIND(omp_test_nest_lock);
BIND(omp_init_lock_);
BIND(omp_destroy_lock_);
BIND(omp_set_lock_);
BIND(omp_unset_lock_);
BIND(omp_test_lock_);
BIND(omp_init_nest_lock_);
BIND(omp_destroy_nest_lock_);
BIND(omp_set_nest_lock_);
BIND(omp_unset_nest_lock_);
BIND(omp_test_nest_lock_);

#endif
