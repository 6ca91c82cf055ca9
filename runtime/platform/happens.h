/* What this library puts in order, told to ThreadSanitizer in a program compiled for it.
 *
 * The library itself is not compiled so: the sanitizer sees no atomic operation of it, and would
 * report each variable that members hand on at a barrier. So the places where a construct orders
 * what programs write say so by two calls, which are there if the sanitizer is. Without it each
 * place costs the look at one constant word. The order that the library is to keep is never told
 * where the library itself is judged (make build/obj/thread/libcapstan.a). */
#ifndef CST_PLATFORM_HAPPENS_H
#define CST_PLATFORM_HAPPENS_H

#include "platform/check.h"

#if defined(__SANITIZE_THREAD__)

static inline void cst_happens_before(const void *object) {
    (void)object;
}
static inline void cst_happens_after(const void *object) {
    (void)object;
}

#else

/* The sanitizer's, by its names; NULL without it. */
extern void __tsan_release(void *object)
    __attribute__((weak)); /* NOLINT(bugprone-reserved-identifier) */
extern void __tsan_acquire(void *object)
    __attribute__((weak)); /* NOLINT(bugprone-reserved-identifier) */

/* Out of the way of the places that call them: a cold call costs these a compare, no more. */
__attribute__((cold, noinline, unused)) static void cst_tell_before(const void *object) {
    __tsan_release((void *)object);
}
__attribute__((cold, noinline, unused)) static void cst_tell_after(const void *object) {
    __tsan_acquire((void *)object);
}

/* What the thread has done so far happens before what another does after cst_happens_after of the
 * same object; called before the operation that the other waits for. */
static inline void cst_happens_before(const void *object) {
    if (cst_unlikely(__tsan_release != NULL)) cst_tell_before(object);
}

/* Called after the wait. */
static inline void cst_happens_after(const void *object) {
    if (cst_unlikely(__tsan_acquire != NULL)) cst_tell_after(object);
}

#endif

#endif
