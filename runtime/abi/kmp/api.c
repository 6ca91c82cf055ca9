/* The calls of omp.h that begin with kmp_: settings, memory, affinity. In Fortran they end in an
 * underscore and take addresses. The libraries of compilers call the names that begin with
 * kmpc_. */
#include "abi/kmp/facts.h"
#include "abi/kmp/settings.h"
#include "abi/omp/prototypes.h"
#include "abi/whole.h"
#include "core/front.h"
#include "platform/platform.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(bugprone-macro-parentheses): types and names are no expressions */

CST_WHOLE(kmp_api);

#define PUBLIC __attribute__((visibility("default")))
#define ALIAS(name, of) PUBLIC extern __typeof(of) name __attribute__((alias(#of)))

/* --- settings ------------------------------------------------------------------------------ */

/* int kmp_get_NAME(void), void kmp_set_NAME(int), and their Fortran forms */
#define SETTING(name, type, get, set)                                                              \
    PUBLIC type kmp_get_##name(void);                                                              \
    PUBLIC type kmp_get_##name##_(void);                                                           \
    PUBLIC void kmp_set_##name(type value);                                                        \
    PUBLIC void kmp_set_##name##_(const type *value);                                              \
    type kmp_get_##name(void) {                                                                    \
        return get;                                                                                \
    }                                                                                              \
    void kmp_set_##name(type value) {                                                              \
        set;                                                                                       \
    }                                                                                              \
    type kmp_get_##name##_(void) {                                                                 \
        return kmp_get_##name();                                                                   \
    }                                                                                              \
    void kmp_set_##name##_(const type *value) {                                                    \
        kmp_set_##name(*value);                                                                    \
    }                                                                                              \
    ALIAS(kmpc_set_##name, kmp_set_##name);

SETTING(blocktime, int, cst_kmp_blocktime(), cst_kmp_set_blocktime(value))
SETTING(library, int, cst_kmp_library(), cst_kmp_set_library(value))
SETTING(stacksize_s, size_t, cst_kmp_stack_size(), cst_kmp_set_stack_size(value))
SETTING(stacksize, int, cst_kmp_stack_size() > INT_MAX ? INT_MAX : (int)cst_kmp_stack_size(),
        if (value > 0) cst_kmp_set_stack_size((size_t)value))

#define LIBRARY(name, number)                                                                      \
    PUBLIC void kmp_set_library_##name(void);                                                      \
    void kmp_set_library_##name(void) {                                                            \
        cst_kmp_set_library(number);                                                               \
    }                                                                                              \
    ALIAS(kmp_set_library_##name##_, kmp_set_library_##name);

LIBRARY(serial, KMP_LIBRARY_SERIAL)
LIBRARY(turnaround, KMP_LIBRARY_TURNAROUND)
LIBRARY(throughput, KMP_LIBRARY_THROUGHPUT)

PUBLIC void kmp_set_defaults(const char *text);
PUBLIC void kmp_set_defaults_(const char *text, int length);
PUBLIC void kmp_set_disp_num_buffers(int number);
PUBLIC void kmp_set_disp_num_buffers_(const int *number);
PUBLIC void kmp_set_warnings_on(void);
PUBLIC void kmp_set_warnings_off(void);
PUBLIC int kmp_get_cancellation_status(int kind);
PUBLIC int kmp_get_cancellation_status_(const int *kind);
PUBLIC int kmp_get_num_known_threads(void);

void kmp_set_defaults(const char *text) {
    cst_kmp_read(text);
}
void kmp_set_defaults_(const char *text, int length) {
    char *copy = strndup(text, length > 0 ? (size_t)length : 0);
    if (copy) cst_kmp_read(copy);
    free(copy);
}

/* No thread waits for a buffer, so their number has no effect (core/state/share.h). */
void kmp_set_disp_num_buffers(int number) {
    (void)number;
}
void kmp_set_disp_num_buffers_(const int *number) {
    (void)number;
}

void kmp_set_warnings_on(void) {
    cst_message_omp_warns(true);
}
void kmp_set_warnings_off(void) {
    cst_message_omp_warns(false);
}

int kmp_get_cancellation_status(int kind) {
    return __kmpc_cancellationpoint(NULL, 0, kind);
}
int kmp_get_cancellation_status_(const int *kind) {
    return kmp_get_cancellation_status(*kind);
}

int kmp_get_num_known_threads(void) {
    return (int)cst_pool_workers_made() + 1;
}

ALIAS(kmpc_set_defaults, kmp_set_defaults);
ALIAS(kmpc_set_disp_num_buffers, kmp_set_disp_num_buffers);
ALIAS(kmp_set_warnings_on_, kmp_set_warnings_on);
ALIAS(kmp_set_warnings_off_, kmp_set_warnings_off);
ALIAS(kmp_get_num_known_threads_, kmp_get_num_known_threads);

/* --- memory -------------------------------------------------------------------------------- */

PUBLIC void *kmp_malloc(size_t size);
PUBLIC void *kmp_aligned_malloc(size_t size, size_t alignment);
PUBLIC void *kmp_calloc(size_t count, size_t size);
PUBLIC void *kmp_realloc(void *memory, size_t size);
PUBLIC void kmp_free(void *memory);
PUBLIC void *kmp_malloc_(const size_t *size);
PUBLIC void *kmp_aligned_malloc_(const size_t *size, const size_t *alignment);
PUBLIC void *kmp_calloc_(const size_t *count, const size_t *size);
PUBLIC void *kmp_realloc_(void **memory, const size_t *size);
PUBLIC void kmp_free_(void **memory);

void *kmp_malloc(size_t size) {
    return malloc(size);
}
/* NULL, as with libomp, if the alignment is no power of two. */
void *kmp_aligned_malloc(size_t size, size_t alignment) {
    void *memory = NULL;
    if (alignment < sizeof(void *) && alignment && !(alignment & (alignment - 1)))
        alignment = sizeof(void *);
    return posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}
void *kmp_calloc(size_t count, size_t size) {
    return calloc(count, size);
}
void *kmp_realloc(void *memory, size_t size) {
    return realloc(memory, size);
}
void kmp_free(void *memory) {
    free(memory);
}

void *kmp_malloc_(const size_t *size) {
    return kmp_malloc(*size);
}
void *kmp_aligned_malloc_(const size_t *size, const size_t *alignment) {
    return kmp_aligned_malloc(*size, *alignment);
}
void *kmp_calloc_(const size_t *count, const size_t *size) {
    return kmp_calloc(*count, *size);
}
void *kmp_realloc_(void **memory, const size_t *size) {
    return kmp_realloc(*memory, *size);
}
void kmp_free_(void **memory) {
    kmp_free(*memory);
}

ALIAS(kmpc_malloc, kmp_malloc);
ALIAS(kmpc_aligned_malloc, kmp_aligned_malloc);
ALIAS(kmpc_calloc, kmp_calloc);
ALIAS(kmpc_realloc, kmp_realloc);
ALIAS(kmpc_free, kmp_free);

/* --- affinity ------------------------------------------------------------------------------ */

enum { MASK_WORDS = 128, MASK_BITS = 64 * MASK_WORDS };

typedef void *kmp_mask;

PUBLIC void kmp_create_affinity_mask(kmp_mask *mask);
PUBLIC void kmp_destroy_affinity_mask(kmp_mask *mask);
PUBLIC int kmp_set_affinity(kmp_mask *mask);
PUBLIC int kmp_get_affinity(kmp_mask *mask);
PUBLIC int kmp_get_affinity_max_proc(void);
PUBLIC int kmp_set_affinity_mask_proc(int processor, kmp_mask *mask);
PUBLIC int kmp_unset_affinity_mask_proc(int processor, kmp_mask *mask);
PUBLIC int kmp_get_affinity_mask_proc(int processor, kmp_mask *mask);
PUBLIC int kmp_set_affinity_mask_proc_(const int *processor, kmp_mask *mask);
PUBLIC int kmp_unset_affinity_mask_proc_(const int *processor, kmp_mask *mask);
PUBLIC int kmp_get_affinity_mask_proc_(const int *processor, kmp_mask *mask);
PUBLIC void kmp_set_thread_affinity_mask_initial(void);

static uint64_t at_start[MASK_WORDS];

/* Stores the mask at the start. Runs before the constructor in core/process/life.c, which may bind
 * the main thread to its place. */
static __attribute__((constructor(59000))) void note_start(void) {
    cst_cpu_mask_get_own(at_start, MASK_WORDS);
}

void kmp_set_thread_affinity_mask_initial(void) {
    cst_cpu_mask_set_own(at_start, MASK_WORDS);
}

void kmp_create_affinity_mask(kmp_mask *mask) {
    *mask = calloc(MASK_WORDS, sizeof(uint64_t));
}

void kmp_destroy_affinity_mask(kmp_mask *mask) {
    free(*mask);
    *mask = NULL;
}

/* kmp_set_affinity and kmp_get_affinity return 0 on success, else -1. */
int kmp_set_affinity(kmp_mask *mask) {
    return mask && *mask && cst_cpu_mask_set_own(*mask, MASK_WORDS) ? 0 : -1;
}
int kmp_get_affinity(kmp_mask *mask) {
    if (!mask || !*mask) return -1;
    memset(*mask, 0, MASK_WORDS * sizeof(uint64_t));
    return cst_cpu_mask_get_own(*mask, MASK_WORDS) > 0 ? 0 : -1;
}

/* The number of the highest processor, plus 1. */
int kmp_get_affinity_max_proc(void) {
    int most = MASK_BITS;
    while (most > 0 && !(at_start[(most - 1) / 64] >> ((most - 1) % 64) & 1)) most--;
    return most;
}

/* The word of the mask that has the processor's bit, or NULL. */
static uint64_t *word_of(int processor, kmp_mask *mask) {
    bool exists = processor >= 0 && processor < kmp_get_affinity_max_proc();
    return exists && mask && *mask ? (uint64_t *)*mask + processor / 64 : NULL;
}

static bool is_usable(int processor) {
    return at_start[processor / 64] >> (processor % 64) & 1;
}

/* -1: there is no such processor; -2: the process may not use it. */
int kmp_set_affinity_mask_proc(int processor, kmp_mask *mask) {
    uint64_t *word = word_of(processor, mask);
    if (!word) return -1;
    if (!is_usable(processor)) return -2;
    *word |= UINT64_C(1) << (processor % 64);
    return 0;
}
int kmp_unset_affinity_mask_proc(int processor, kmp_mask *mask) {
    uint64_t *word = word_of(processor, mask);
    if (!word) return -1;
    if (!is_usable(processor)) return -2;
    *word &= ~(UINT64_C(1) << (processor % 64));
    return 0;
}
int kmp_get_affinity_mask_proc(int processor, kmp_mask *mask) {
    uint64_t *word = word_of(processor, mask);
    if (!word) return -1;
    return is_usable(processor) && *word >> (processor % 64) & 1;
}

int kmp_set_affinity_mask_proc_(const int *processor, kmp_mask *mask) {
    return kmp_set_affinity_mask_proc(*processor, mask);
}
int kmp_unset_affinity_mask_proc_(const int *processor, kmp_mask *mask) {
    return kmp_unset_affinity_mask_proc(*processor, mask);
}
int kmp_get_affinity_mask_proc_(const int *processor, kmp_mask *mask) {
    return kmp_get_affinity_mask_proc(*processor, mask);
}

ALIAS(kmp_create_affinity_mask_, kmp_create_affinity_mask);
ALIAS(kmp_destroy_affinity_mask_, kmp_destroy_affinity_mask);
ALIAS(kmp_set_affinity_, kmp_set_affinity);
ALIAS(kmp_get_affinity_, kmp_get_affinity);
ALIAS(kmp_get_affinity_max_proc_, kmp_get_affinity_max_proc);
ALIAS(kmpc_set_affinity_mask_proc, kmp_set_affinity_mask_proc);
ALIAS(kmpc_unset_affinity_mask_proc, kmp_unset_affinity_mask_proc);
ALIAS(kmpc_get_affinity_mask_proc, kmp_get_affinity_mask_proc);

/* NOLINTEND(bugprone-macro-parentheses) */
