/* Tells ThreadSanitizer, in a program compiled for it, the orders that this library imposes.
 *
 * The library itself is not compiled for the sanitizer. So the sanitizer sees no atomic operation
 * of the library, and would report each variable that members pass on at a barrier. So two calls
 * mark each place where a construct orders a program's writes; they exist if the sanitizer does.
 * Without it, each place costs the test of one constant word. The calls are empty in a build that
 * checks the library itself (make build/obj/thread/libcapstan.a). */
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
static inline bool cst_happens_is_told(void) {
    return false;
}

#else

/* The sanitizer's functions; NULL without it. */
extern void __tsan_release(void *object)
    __attribute__((weak)); /* NOLINT(bugprone-reserved-identifier) */
extern void __tsan_acquire(void *object)
    __attribute__((weak)); /* NOLINT(bugprone-reserved-identifier) */

/* Cold functions, so that each place that calls them costs only a compare. */
__attribute__((cold, noinline, unused)) static void cst_tell_before(const void *object) {
    __tsan_release((void *)object);
}
__attribute__((cold, noinline, unused)) static void cst_tell_after(const void *object) {
    __tsan_acquire((void *)object);
}

/* The thread's accesses so far happen before the accesses of another thread after its
 * cst_happens_after of the same object. Called before the operation for which the other thread
 * waits. */
static inline void cst_happens_before(const void *object) {
    if (cst_unlikely(__tsan_release != NULL)) cst_tell_before(object);
}

/* Called after the wait. */
static inline void cst_happens_after(const void *object) {
    if (cst_unlikely(__tsan_acquire != NULL)) cst_tell_after(object);
}

/* Is there a sanitizer to tell? */
static inline bool cst_happens_is_told(void) {
    return cst_unlikely(__tsan_acquire != NULL);
}

#endif

#endif
