/* Work of C on a shared array. */
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

/* Every thread of a region adds `what` to the elements of its part. */
void add_in_parallel(double *elements, size_t count, double what) {
#pragma omp parallel for
    for (size_t i = 0; i < count; i++) elements[i] += what;
}

/* Returns the number of page faults without disk access that the kernel has served for this
 * thread. */
static long page_faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

/* Returns the number of page faults during `times` copies. C counts them, as here nothing else
 * touches memory, and the thread stays the same. */
long faults_of_copies(double *to, const double *from, size_t count, long times) {
    long before = page_faults();
    for (long i = 0; i < times; i++) {
        memcpy(to, from, count * sizeof *to);
        __asm__ volatile("" : : "r"(to) : "memory"); /* the compiler keeps each copy */
    }
    return page_faults() - before;
}

/* Writes until the process ends; `started` becomes 1. */
void write_for_ever(double *elements, size_t count, int *started) {
    for (size_t round = 0;; round++) {
        for (size_t i = 0; i < count; i++)
            __atomic_store_n((long *)&elements[i], (long)round, __ATOMIC_RELAXED);
        __atomic_store_n(started, 1, __ATOMIC_RELEASE);
    }
}
