/* The memory calls of users and of compilers. Decodes traits; core/memory/allocator.c does the
 * work. */
#include "abi/omp/both.h"
#include "abi/omp/prototypes.h"

#include "abi/gomp/facts.h"
#include "abi/whole.h"
#include "core/front.h"

CST_WHOLE(omp_alloc);

/* omp_alloctrait_key_t and omp_alloctrait_value_t */
enum key { SYNC_HINT = 1, ALIGNMENT, ACCESS, POOL_SIZE, FALLBACK, FB_DATA, PINNED, PARTITION };
enum value {
    FALSE = 0,
    TRUE = 1,
    CONTENDED = 3,
    PRIVATE = 6,
    ALL = 7,
    CGROUP = 10,
    DEFAULT_MEM_FB = 11,
    NULL_FB,
    ABORT_FB,
    ALLOCATOR_FB,
    ENVIRONMENT = 15,
    NEAREST,
    BLOCKED,
    INTERLEAVED
};
static const uintptr_t DEFAULT = UINTPTR_MAX;

enum { LAST_SPACE = 4, MANAGED_SPACE = 200 };

/* The C enumerations have the order of the ABI's, so that a constant converts one to the other. */
_Static_assert((int)CST_FALLBACK_DEFAULT == 0 &&
                   (int)CST_FALLBACK_ALLOCATOR == ALLOCATOR_FB - DEFAULT_MEM_FB,
               "fallbacks are shifted");
_Static_assert((int)CST_PARTITION_ENVIRONMENT == 0 &&
                   (int)CST_PARTITION_INTERLEAVED == INTERLEAVED - ENVIRONMENT,
               "partitions are shifted");

/* Chooses one of the values first..last; false for other values. `omp_atv_default` means the given
 * default. */
static bool choose(uintptr_t value, uintptr_t first, uintptr_t last, uintptr_t standard,
                   uintptr_t *chosen) {
    if (value == DEFAULT) value = standard;
    *chosen = value - first;
    return value >= first && value <= last;
}

/* False if the trait has no such value. */
static bool decode(const omp_alloctrait_t *trait, struct cst_allocator_traits *traits) {
    uintptr_t value = trait->value, chosen;
    switch (trait->key) {
    case SYNC_HINT: /* one way to synchronize serves all hints */
        return choose(value, CONTENDED, PRIVATE, CONTENDED, &chosen);
    case ACCESS: /* all threads can reach all memory */
        return choose(value, ALL, CGROUP, ALL, &chosen);
    case ALIGNMENT:
        if (value == DEFAULT) value = 1;
        traits->alignment = value;
        return value != 0 && (value & (value - 1)) == 0;
    case POOL_SIZE:
        traits->pool_size = value == DEFAULT ? SIZE_MAX : value;
        return true;
    case FALLBACK:
        if (!choose(value, DEFAULT_MEM_FB, ALLOCATOR_FB, DEFAULT_MEM_FB, &chosen)) return false;
        traits->fallback = (enum cst_fallback)chosen;
        return true;
    case FB_DATA:
        traits->fallback_allocator = value == DEFAULT ? CST_ALLOCATOR_NULL : value;
        return true;
    case PINNED:
        if (!choose(value, FALSE, TRUE, FALSE, &chosen)) return false;
        traits->pinned = chosen == TRUE;
        return true;
    case PARTITION:
        if (!choose(value, ENVIRONMENT, INTERLEAVED, ENVIRONMENT, &chosen)) return false;
        traits->partition = (enum cst_partition)chosen;
        return true;
    }
    return false;
}

omp_allocator_handle_t omp_init_allocator(omp_memspace_handle_t space, int count,
                                          const omp_alloctrait_t *list) {
    struct cst_allocator_traits traits = {.alignment = 1,
                                          .pool_size = SIZE_MAX,
                                          .fallback = CST_FALLBACK_DEFAULT,
                                          .managed = space == MANAGED_SPACE};
    if (space > LAST_SPACE && space != MANAGED_SPACE) return CST_ALLOCATOR_NULL;
    for (int i = 0; i < count; i++)
        if (!decode(&list[i], &traits)) return CST_ALLOCATOR_NULL;
    if (traits.alignment < sizeof(void *)) traits.alignment = sizeof(void *);
    return cst_allocator_make(&traits);
}

void omp_destroy_allocator(omp_allocator_handle_t allocator) {
    cst_allocator_free(allocator);
}

void omp_set_default_allocator(omp_allocator_handle_t allocator) {
    if (allocator == CST_ALLOCATOR_NULL) allocator = CST_ALLOCATOR_DEFAULT;
    cst_own_icv()->default_allocator = allocator;
}

omp_allocator_handle_t omp_get_default_allocator(void) {
    return cst_known_icv()->default_allocator;
}

static omp_allocator_handle_t or_default(omp_allocator_handle_t allocator) {
    return allocator == CST_ALLOCATOR_NULL ? omp_get_default_allocator() : allocator;
}

void *omp_aligned_alloc(size_t alignment, size_t size, omp_allocator_handle_t allocator) {
    return cst_memory_alloc(alignment, size, false, or_default(allocator));
}

void *omp_alloc(size_t size, omp_allocator_handle_t allocator) {
    return omp_aligned_alloc(1, size, allocator);
}

void *omp_aligned_calloc(size_t alignment, size_t count, size_t size,
                         omp_allocator_handle_t allocator) {
    size_t whole;
    if (__builtin_mul_overflow(count, size, &whole)) whole = SIZE_MAX; /* the fallback decides */
    return cst_memory_alloc(alignment, whole, true, or_default(allocator));
}

void *omp_calloc(size_t count, size_t size, omp_allocator_handle_t allocator) {
    return omp_aligned_calloc(1, count, size, allocator);
}

void *omp_realloc(void *memory, size_t size, omp_allocator_handle_t allocator,
                  omp_allocator_handle_t free_allocator) {
    (void)free_allocator; /* the memory's header names it */
    return memory ? cst_memory_realloc(memory, size, allocator) : omp_alloc(size, allocator);
}

void omp_free(void *memory, omp_allocator_handle_t allocator) {
    (void)allocator; /* the same */
    cst_memory_free(memory);
}

/* --- the compiler's: `allocate` clauses and directives --------------------------------------- */

/* Compiled code does not check the result, so null_fb means abort_fb here (OpenMP 5.0, 2.11.4). */
void *GOMP_alloc(size_t alignment, size_t size, uintptr_t allocator) {
    void *memory = omp_aligned_alloc(alignment, size, allocator);
    if (!memory && size > 0)
        cst_message_openmp_fatal("Out of memory allocating %lu bytes", (unsigned long)size);
    return memory;
}

void GOMP_free(void *memory, uintptr_t allocator) {
    omp_free(memory, allocator);
}

void GOMP_add_alloc(void *memory) {
    cst_memory_remember(memory);
}

bool GOMP_is_alloc(void *memory) {
    return cst_memory_forget(memory);
}

/* --- the same for programs of clang --------------------------------------------------------- */

CST_FOR_BOTH(GOMP_alloc);
CST_FOR_BOTH(GOMP_free);
CST_FOR_BOTH(omp_init_allocator);
CST_FOR_BOTH(omp_destroy_allocator);
CST_FOR_BOTH(omp_set_default_allocator);
CST_FOR_BOTH(omp_get_default_allocator);
CST_FOR_BOTH(omp_aligned_alloc);
CST_FOR_BOTH(omp_alloc);
CST_FOR_BOTH(omp_aligned_calloc);
CST_FOR_BOTH(omp_calloc);
CST_FOR_BOTH(omp_realloc);
CST_FOR_BOTH(omp_free);
