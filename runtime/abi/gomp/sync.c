/* barrier, critical, atomic, ordered: GCC's calls, decoded. */
#include "abi/gomp/facts.h"
#include "abi/omp/both.h"
#include "abi/whole.h"
#include "core/front.h"

#include <stdarg.h>

CST_WHOLE(gomp_sync);

/* Checks once whether anyone listens to a barrier's events, not at its begin and its end. */
static __attribute__((noinline, cold)) void barrier_called(void) {
    cst_trace_called(CST_FRONT_GOMP, __builtin_return_address(0), NULL);
    cst_barrier_traced(cst_self(), false);
}

void GOMP_barrier(void) {
    if (cst_trace_is_on())
        barrier_called();
    else
        cst_barrier_untraced(cst_self());
}

CST_ENTRY(CST_FRONT_GOMP, bool, GOMP_barrier_cancel, (void), ()) {
    return cst_barrier_cancellable(cst_self());
}

/* One lock for all unnamed critical regions, one for atomic operations that the processor lacks:
 * OpenMP makes both global to the program. */
static CST_LINE_ALIGNED cst_lock critical;
static CST_LINE_ALIGNED cst_lock atomic;

void GOMP_critical_start(void) {
    cst_lock_acquire(&critical);
}
void GOMP_critical_end(void) {
    cst_lock_release(&critical);
}
void GOMP_atomic_start(void) {
    cst_lock_acquire(&atomic);
}
void GOMP_atomic_end(void) {
    cst_lock_release(&atomic);
}

/* The compiler's slot, a zeroed pointer, is the lock. */
static cst_lock *lock_in(void **slot) {
    _Static_assert(sizeof(cst_lock) <= sizeof(void *), "the lock fits the slot");
    return (cst_lock *)(void *)slot;
}

void GOMP_critical_name_start(void **slot) {
    cst_lock_acquire(lock_in(slot));
}
void GOMP_critical_name_end(void **slot) {
    cst_lock_release(lock_in(slot));
}

void GOMP_ordered_start(void) {
    cst_ordered_begin(cst_self());
}

void GOMP_ordered_end(void) {
    cst_ordered_end(cst_self());
}

enum { MOST_LOOPS = 64 };

void GOMP_doacross_post(long *counts) {
    struct cst_thread *thread = cst_self();
    if (cst_doacross_loops(thread)) cst_doacross_post(thread, (uint64_t *)counts);
}

void GOMP_doacross_ull_post(gomp_ull *counts) {
    struct cst_thread *thread = cst_self();
    if (cst_doacross_loops(thread)) cst_doacross_post(thread, (uint64_t *)counts);
}

/* Reads the rest of a sink's vector, one word for each loop. */
#define WAIT(type, first)                                                                          \
    do {                                                                                           \
        struct cst_thread *thread = cst_self();                                                    \
        uint32_t loops = cst_doacross_loops(thread);                                               \
        if (loops == 0) break;                                                                     \
        uint64_t vector[MOST_LOOPS];                                                               \
        vector[0] = (uint64_t)(first);                                                             \
        va_list rest;                                                                              \
        va_start(rest, first);                                                                     \
        for (uint32_t i = 1; i < loops; i++) vector[i] = (uint64_t)va_arg(rest, type);             \
        va_end(rest);                                                                              \
        cst_doacross_wait(thread, vector);                                                         \
    } while (0)

void GOMP_doacross_wait(long first, ...) {
    WAIT(long, first);
}

void GOMP_doacross_ull_wait(gomp_ull first, ...) {
    WAIT(gomp_ull, first);
}

/* --- objects of GCC that clang links --------------------------------------------------------- */

CST_FOR_BOTH(GOMP_atomic_end);
CST_FOR_BOTH(GOMP_atomic_start);
CST_FOR_BOTH(GOMP_barrier);
CST_FOR_BOTH(GOMP_barrier_cancel);
CST_FOR_BOTH(GOMP_critical_end);
CST_FOR_BOTH(GOMP_critical_name_end);
CST_FOR_BOTH(GOMP_critical_name_start);
CST_FOR_BOTH(GOMP_critical_start);
CST_FOR_BOTH(GOMP_doacross_post);
CST_FOR_BOTH(GOMP_doacross_ull_post);
CST_FOR_BOTH(GOMP_doacross_ull_wait);
CST_FOR_BOTH(GOMP_doacross_wait);
CST_FOR_BOTH(GOMP_ordered_end);
CST_FOR_BOTH(GOMP_ordered_start);
