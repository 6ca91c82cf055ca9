/* The calls of omp.h that begin with kmp_, and their Fortran names.
 *
 * test: flags -Lbuild/lib
 * test: env OMP_CANCELLATION=true
 * test: not clang-stock libomp has more to say about each
 */
#define _GNU_SOURCE
#include "testing.h"

#include <limits.h>
#include <omp.h>
#include <stdint.h>
#include <string.h>

int kmp_get_blocktime_(void), kmp_get_library_(void), kmp_get_stacksize_(void);
size_t kmp_get_stacksize_s_(void);
void kmp_set_blocktime_(const int *), kmp_set_library_(const int *),
    kmp_set_stacksize_(const int *);
void kmp_set_stacksize_s_(const size_t *);
void kmp_set_library_serial_(void), kmp_set_library_turnaround_(void),
    kmp_set_library_throughput_(void);
void kmp_set_defaults_(const char *, int);
void kmp_set_warnings_on_(void), kmp_set_warnings_off_(void);
int kmp_get_num_known_threads(void), kmp_get_num_known_threads_(void);
int kmp_get_cancellation_status(int), kmp_get_cancellation_status_(const int *);
void *kmp_malloc_(const size_t *), *kmp_aligned_malloc(size_t, size_t);
void *kmp_aligned_malloc_(const size_t *, const size_t *),
    *kmp_calloc_(const size_t *, const size_t *);
void *kmp_realloc_(void **, const size_t *);
void kmp_free_(void **);
void kmp_create_affinity_mask_(void **), kmp_destroy_affinity_mask_(void **);
int kmp_set_affinity_(void **), kmp_get_affinity_(void **), kmp_get_affinity_max_proc_(void);
int kmp_set_affinity_mask_proc_(const int *, void **),
    kmp_unset_affinity_mask_proc_(const int *, void **);
int kmp_get_affinity_mask_proc_(const int *, void **);
void kmp_set_thread_affinity_mask_initial(void);
void __kmpc_error(void *, int, const char *);
int __kmpc_global_thread_num(void *);
int __kmpc_cancel(void *, int, int);

/* --- settings ------------------------------------------------------------------------------ */

static void settings(void) {
    int number = 18;
    kmp_set_blocktime(17);
    CHECK_EQ(kmp_get_blocktime(), 17);
    kmp_set_blocktime_(&number);
    CHECK_EQ(kmp_get_blocktime_(), 18);
    kmp_set_defaults("KMP_BLOCKTIME=33|KMP_LIBRARY=turnaround");
    CHECK_EQ(kmp_get_blocktime(), 33);
    CHECK_EQ(kmp_get_library(), 2);
    kmp_set_defaults_("KMP_BLOCKTIME=345", 16); /* a string of 16 characters */
    CHECK_EQ(kmp_get_blocktime(), 34);
    kmp_set_library(3);
    CHECK_EQ(kmp_get_library_(), 3);
    number = 2;
    kmp_set_library_(&number);
    CHECK_EQ(kmp_get_library(), 2);
    kmp_set_library_throughput();
    CHECK_EQ(kmp_get_library(), 3);
    kmp_set_library_turnaround();
    CHECK_EQ(kmp_get_library(), 2);
    kmp_set_library_throughput_();
    CHECK_EQ(kmp_get_library(), 3);
    kmp_set_library_turnaround_();
    CHECK_EQ(kmp_get_library(), 2);
    omp_set_num_threads(3);
    kmp_set_library_serial();
    CHECK_EQ(omp_get_max_threads(), 1);
    omp_set_num_threads(3);
    kmp_set_library_serial_();
    CHECK_EQ(omp_get_max_threads(), 1);
    CHECK_EQ(kmp_get_library(), 1);
    omp_set_num_threads(3);
}

/* The stack size of threads that are made later. */
static void stack_sizes(void) {
    size_t large = (size_t)5 << 20;
    int small = 3 << 20;
    kmp_set_stacksize_s((size_t)6 << 20);
    CHECK_EQ(kmp_get_stacksize_s(), 6 << 20);
    kmp_set_stacksize_s_(&large);
    CHECK_EQ(kmp_get_stacksize_s_(), 5 << 20);
    kmp_set_stacksize(4 << 20);
    CHECK_EQ(kmp_get_stacksize(), 4 << 20);
    kmp_set_stacksize_(&small);
    CHECK_EQ(kmp_get_stacksize_(), 3 << 20);
}

/* Returns whether a warning reaches the user. */
static int warns(void) {
    int ends[2], saved = dup(2);
    char said[400];
    CHECK(pipe(ends) == 0);
    dup2(ends[1], 2);
    __kmpc_error(NULL, 1, "careful");
    dup2(saved, 2);
    close(saved);
    close(ends[1]);
    ssize_t length = read(ends[0], said, sizeof said - 1);
    close(ends[0]);
    said[length > 0 ? length : 0] = '\0';
    return strstr(said, "careful") != NULL;
}

static void warnings(void) {
    CHECK(warns());
    kmp_set_warnings_off();
    CHECK(!warns());
    kmp_set_warnings_on();
    CHECK(warns());
    kmp_set_warnings_off_();
    CHECK(!warns());
    kmp_set_warnings_on_();
    CHECK(warns());
}

/* --- threads ------------------------------------------------------------------------------- */

static void known_threads(void) {
    int members = 0;
#pragma omp parallel num_threads(3) reduction(+ : members)
    members++;
    CHECK_EQ(members, 3);
    CHECK_EQ(kmp_get_num_known_threads(), 3);
    CHECK_EQ(kmp_get_num_known_threads_(), 3);
}

/* The call of compiled code for cancellation: the region is cancelled, and each member goes to its
 * end. */
static void cancellation(void) {
    enum { PARALLEL = 1 };
    int which = PARALLEL, wrong = 0;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
    if (omp_get_thread_num() == 0) {
        wrong += kmp_get_cancellation_status(PARALLEL) + kmp_get_cancellation_status_(&which);
        wrong += __kmpc_cancel(NULL, __kmpc_global_thread_num(NULL), PARALLEL) != 1;
        wrong += kmp_get_cancellation_status(PARALLEL) != 1;
        wrong += kmp_get_cancellation_status_(&which) != 1;
    }
    CHECK_EQ(wrong, 0);
}

/* --- memory -------------------------------------------------------------------------------- */

static void memory(void) {
    size_t size = 1000, more = 5000, one = 1, alignment = 256;
    char *block = kmp_malloc(size);
    CHECK(block != NULL);
    memset(block, 1, size);
    block = kmp_realloc(block, more);
    CHECK(block && block[0] == 1 && block[size - 1] == 1);
    kmp_free(block);
    void *other = kmp_malloc_(&size);
    CHECK(other != NULL);
    memset(other, 2, size);
    other = kmp_realloc_(&other, &more);
    CHECK(other && *(char *)other == 2);
    kmp_free_(&other);
    block = kmp_calloc(one, size);
    CHECK(block && block[0] == 0 && block[size - 1] == 0);
    kmp_free(block);
    block = kmp_calloc_(&size, &one);
    CHECK(block && block[0] == 0 && block[size - 1] == 0);
    kmp_free(block);
    block = kmp_aligned_malloc(size, alignment);
    CHECK(block && (uintptr_t)block % alignment == 0);
    kmp_free(block);
    block = kmp_aligned_malloc_(&size, &alignment);
    CHECK(block && (uintptr_t)block % alignment == 0);
    kmp_free(block);
    CHECK(kmp_aligned_malloc(size, 24) == NULL);
}

/* --- affinity ------------------------------------------------------------------------------ */

static cpu_set_t mine(void) {
    cpu_set_t set;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    return set;
}

static int last_processor(void) {
    cpu_set_t set = mine();
    int last = CPU_SETSIZE - 1;
    while (!CPU_ISSET(last, &set)) last--;
    return last;
}

static void affinity(void) {
    void *mask = NULL, *now = NULL;
    cpu_set_t all = mine(), one;
    int processor = last_processor(), absent = processor + 1;
    CHECK_EQ(kmp_get_affinity_max_proc(), processor + 1);
    CHECK_EQ(kmp_get_affinity_max_proc_(), processor + 1);
    kmp_create_affinity_mask(&mask);
    kmp_create_affinity_mask_(&now);
    CHECK(mask && now);
    CHECK_EQ(kmp_set_affinity_mask_proc(absent, &mask), -1);
    CHECK_EQ(kmp_unset_affinity_mask_proc(absent, &mask), -1);
    CHECK_EQ(kmp_get_affinity_mask_proc(absent, &mask), -1);
    CHECK_EQ(kmp_get_affinity_mask_proc(processor, &mask), 0);
    CHECK_EQ(kmp_set_affinity_mask_proc(processor, &mask), 0);
    CHECK_EQ(kmp_get_affinity_mask_proc(processor, &mask), 1);
    CHECK_EQ(kmp_unset_affinity_mask_proc(processor, &mask), 0);
    CHECK_EQ(kmp_get_affinity_mask_proc_(&processor, &mask), 0);
    CHECK_EQ(kmp_set_affinity_mask_proc_(&processor, &mask), 0);
    CHECK_EQ(kmp_get_affinity_mask_proc_(&processor, &mask), 1);
    CHECK_EQ(kmp_unset_affinity_mask_proc_(&processor, &mask), 0);
    CHECK_EQ(kmp_get_affinity_mask_proc(processor, &mask), 0);
    CHECK_EQ(kmp_set_affinity_mask_proc(processor, &mask), 0);
    for (int fortran = 0; fortran < 2; fortran++) {
        CHECK_EQ(fortran ? kmp_set_affinity_(&mask) : kmp_set_affinity(&mask), 0);
        one = mine();
        CHECK_EQ(CPU_COUNT(&one), 1);
        CHECK(CPU_ISSET(processor, &one));
        CHECK_EQ(fortran ? kmp_get_affinity_(&now) : kmp_get_affinity(&now), 0);
        CHECK_EQ(kmp_get_affinity_mask_proc(processor, &now), 1);
        kmp_set_thread_affinity_mask_initial();
        one = mine();
        CHECK(CPU_EQUAL(&one, &all));
        CHECK_EQ(kmp_get_affinity(&now), 0);
        for (int i = 0; i <= processor; i++)
            if (CPU_ISSET(i, &all)) CHECK_EQ(kmp_get_affinity_mask_proc(i, &now), 1);
        CHECK_EQ(kmp_unset_affinity_mask_proc(processor, &now), 0);
        CHECK_EQ(kmp_get_affinity_mask_proc(processor, &now), 0);
    }
    kmp_destroy_affinity_mask(&mask);
    kmp_destroy_affinity_mask_(&now);
    CHECK(!mask && !now);
}

int main(void) {
    test_limit(30);
    settings();
    stack_sizes();
    warnings();
    known_threads();
    cancellation();
    memory();
    affinity();
    return 0;
}
