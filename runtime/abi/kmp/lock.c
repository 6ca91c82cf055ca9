/* Locks as Intel's compilers call them: the calls of omp.h, with a position in the source. */
#include "abi/kmp/facts.h"
#include "abi/omp/prototypes.h"
#include "abi/whole.h"

CST_WHOLE(kmp_lock);

static omp_lock_t *simple(void **lock) {
    return (omp_lock_t *)(void *)lock;
}

static omp_nest_lock_t *nestable(void **lock) {
    return (omp_nest_lock_t *)(void *)lock;
}

void __kmpc_init_lock(kmp_loc *loc, int32_t thread, void **lock) {
    (void)loc, (void)thread;
    omp_init_lock(simple(lock));
}
void __kmpc_init_lock_with_hint(kmp_loc *loc, int32_t thread, void **lock, uintptr_t hint) {
    (void)loc, (void)thread, (void)hint;
    omp_init_lock(simple(lock));
}
void __kmpc_destroy_lock(kmp_loc *loc, int32_t thread, void **lock) {
    (void)loc, (void)thread;
    omp_destroy_lock(simple(lock));
}
void __kmpc_set_lock(kmp_loc *loc, int32_t thread, void **lock) {
    (void)loc, (void)thread;
    omp_set_lock(simple(lock));
}
void __kmpc_unset_lock(kmp_loc *loc, int32_t thread, void **lock) {
    (void)loc, (void)thread;
    omp_unset_lock(simple(lock));
}
int32_t __kmpc_test_lock(kmp_loc *loc, int32_t thread, void **lock) {
    (void)loc, (void)thread;
    return omp_test_lock(simple(lock));
}

void __kmpc_init_nest_lock(kmp_loc *loc, int32_t thread, void **lock) {
    (void)loc, (void)thread;
    omp_init_nest_lock(nestable(lock));
}
void __kmpc_init_nest_lock_with_hint(kmp_loc *loc, int32_t thread, void **lock, uintptr_t hint) {
    (void)loc, (void)thread, (void)hint;
    omp_init_nest_lock(nestable(lock));
}
void __kmpc_destroy_nest_lock(kmp_loc *loc, int32_t thread, void **lock) {
    (void)loc, (void)thread;
    omp_destroy_nest_lock(nestable(lock));
}
void __kmpc_set_nest_lock(kmp_loc *loc, int32_t thread, void **lock) {
    (void)loc, (void)thread;
    omp_set_nest_lock(nestable(lock));
}
void __kmpc_unset_nest_lock(kmp_loc *loc, int32_t thread, void **lock) {
    (void)loc, (void)thread;
    omp_unset_nest_lock(nestable(lock));
}
int32_t __kmpc_test_nest_lock(kmp_loc *loc, int32_t thread, void **lock) {
    (void)loc, (void)thread;
    return omp_test_nest_lock(nestable(lock));
}
