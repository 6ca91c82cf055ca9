/* Allocators and the memory that comes from them; see allocator.h. */
#include "core/memory/allocator.h"

#include "core/base/message.h"
#include "core/memory/pinned.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

struct cst_allocator {
    struct cst_allocator_traits traits;
    /* Bytes in use, headers included; only kept when the pool is limited. Relaxed: a count that
     * publishes nothing. */
    _Atomic size_t used;
};

/* Lies before each piece of memory that a program has. */
struct header {
    void *block; /* as malloc or the kernel gave it */
    size_t size; /* of the block */
    cst_allocator_handle allocator;
    size_t granted; /* by cst_pinned_get or cst_pages_get; 0: from malloc */
};
_Static_assert(sizeof(struct header) % 16 == 0, "memory after a header keeps malloc's alignment");

_Static_assert((int)CST_PARTITION_NEAREST == CST_PAGES_NEAREST &&
                   (int)CST_PARTITION_BLOCKED == CST_PAGES_BLOCKED &&
                   (int)CST_PARTITION_INTERLEAVED == CST_PAGES_INTERLEAVED,
               "a partition is passed on as a page policy");

static const struct cst_allocator_traits plain = {
    .alignment = 1, .pool_size = SIZE_MAX, .fallback = CST_FALLBACK_NULL};
static const struct cst_allocator_traits other = {
    .alignment = 1, .pool_size = SIZE_MAX, .fallback = CST_FALLBACK_DEFAULT};
static const struct cst_allocator_traits pinned = {
    .alignment = 1, .pool_size = SIZE_MAX, .fallback = CST_FALLBACK_NULL, .pinned = true};
static const struct cst_allocator_traits managed = {
    .alignment = 1, .pool_size = SIZE_MAX, .fallback = CST_FALLBACK_DEFAULT, .managed = true};

static bool is_predefined(cst_allocator_handle allocator) {
    return allocator <= CST_ALLOCATOR_MANAGED;
}

static const struct cst_allocator_traits *traits_of(cst_allocator_handle allocator) {
    if (!is_predefined(allocator)) return &((struct cst_allocator *)allocator)->traits;
    if (allocator == CST_ALLOCATOR_PINNED) return &pinned;
    if (allocator == CST_ALLOCATOR_MANAGED) return &managed;
    return allocator == CST_ALLOCATOR_DEFAULT ? &plain : &other;
}

cst_allocator_handle cst_allocator_make(const struct cst_allocator_traits *traits) {
    struct cst_allocator *allocator = malloc(sizeof *allocator);
    if (!allocator) return CST_ALLOCATOR_NULL;
    allocator->traits = *traits;
    cst_store_relaxed(&allocator->used, 0);
    return (cst_allocator_handle)allocator;
}

void cst_allocator_free(cst_allocator_handle allocator) {
    if (!is_predefined(allocator)) free((void *)allocator);
}

/* --- the pool's limit ---------------------------------------------------------------------- */

static bool is_limited(cst_allocator_handle allocator) {
    return !is_predefined(allocator) && traits_of(allocator)->pool_size < SIZE_MAX;
}

static bool charge(cst_allocator_handle allocator, size_t size) {
    if (!is_limited(allocator)) return true;
    struct cst_allocator *pool = (struct cst_allocator *)allocator;
    size_t used = cst_load_relaxed(&pool->used), now;
    do {
        if (__builtin_add_overflow(used, size, &now) || now > pool->traits.pool_size) return false;
    } while (!cst_cas_relaxed(&pool->used, &used, now));
    return true;
}

static void discharge(cst_allocator_handle allocator, size_t size) {
    if (is_limited(allocator)) cst_add_relaxed(&((struct cst_allocator *)allocator)->used, -size);
}

/* --- blocks -------------------------------------------------------------------------------- */

static bool is_placed(const struct cst_allocator_traits *traits) {
    return traits->partition != CST_PARTITION_ENVIRONMENT;
}

/* *granted stays 0 when malloc serves. */
static void *get_block(const struct cst_allocator_traits *traits, size_t size, bool zeroed,
                       size_t *granted) {
    if (is_placed(traits))
        return cst_pages_get(size, traits->pinned, (enum cst_page_policy)traits->partition,
                             granted);
    if (traits->pinned) return cst_pinned_get(size, granted);
    return zeroed ? calloc(1, size) : malloc(size);
}

/* Memory with a header, from this allocator alone; NULL when it has none. */
static void *get(size_t alignment, size_t size, bool zeroed, cst_allocator_handle allocator) {
    const struct cst_allocator_traits *traits = traits_of(allocator);
    if (traits->managed) return NULL;
    if (alignment < traits->alignment) alignment = traits->alignment;
    size_t whole = sizeof(struct header);
    if (alignment > sizeof(void *)) whole += alignment - sizeof(void *);
    if (__builtin_add_overflow(whole, size, &whole) || !charge(allocator, whole)) return NULL;

    size_t granted = 0;
    void *block = get_block(traits, whole, zeroed, &granted);
    if (!block) {
        discharge(allocator, whole);
        return NULL;
    }
    uintptr_t start = (uintptr_t)block + sizeof(struct header);
    if (alignment > sizeof(void *))
        start = (start + alignment - sizeof(void *)) & ~(uintptr_t)(alignment - 1);
    struct header *header = (struct header *)start - 1;
    *header = (struct header){block, whole, allocator, granted};
    return header + 1;
}

/* The allocator to try next, by the fallback trait; null: none. */
static cst_allocator_handle fall_back(cst_allocator_handle allocator, size_t size) {
    const struct cst_allocator_traits *traits = traits_of(allocator);
    switch (traits->fallback) {
    case CST_FALLBACK_DEFAULT:
        return CST_ALLOCATOR_DEFAULT;
    case CST_FALLBACK_ALLOCATOR:
        return traits->fallback_allocator;
    case CST_FALLBACK_ABORT:
        cst_message_openmp_fatal("Out of memory allocating %lu bytes", (unsigned long)size);
    case CST_FALLBACK_NULL:
        break;
    }
    return CST_ALLOCATOR_NULL;
}

void *cst_memory_alloc(size_t alignment, size_t size, bool zeroed, cst_allocator_handle allocator) {
    if (size == 0) return NULL;
    if ((alignment & (alignment - 1)) != 0) { /* get() could place the header before the block */
        cst_message("memory was asked for with alignment %zu, which is no power of two", alignment);
        return NULL;
    }
    void *memory = NULL;
    while (allocator != CST_ALLOCATOR_NULL && !memory) {
        memory = get(alignment, size, zeroed, allocator);
        if (!memory) allocator = fall_back(allocator, size);
    }
    return memory;
}

static struct header *header_of(void *memory) {
    return (struct header *)memory - 1;
}

void cst_memory_free(void *memory) {
    if (!memory) return;
    struct header *header = header_of(memory);
    discharge(header->allocator, header->size);
    if (header->granted)
        cst_pinned_free(header->block, header->granted); /* of either kind */
    else
        free(header->block);
}

/* --- realloc ------------------------------------------------------------------------------- */

/* malloc's own realloc serves if neither side has an alignment or pages, and if the pool, where
 * there is one, stays the same. */
static bool can_resize(const struct header *header, cst_allocator_handle allocator) {
    const struct cst_allocator_traits *traits = traits_of(allocator);
    bool limited = is_limited(header->allocator) || is_limited(allocator);
    return (const char *)(header + 1) == (char *)header->block + sizeof *header &&
           header->granted == 0 && (!limited || header->allocator == allocator) &&
           traits->alignment <= sizeof(void *) && !is_placed(traits) && !traits->pinned &&
           !traits->managed;
}

/* A pool is charged for the difference. On failure the old memory is untouched. */
static void *resize(struct header *header, size_t size, cst_allocator_handle allocator) {
    size_t whole, old = header->size;
    if (__builtin_add_overflow(size, sizeof *header, &whole)) return NULL;
    if (whole > old && !charge(allocator, whole - old)) return NULL;
    struct header *moved = realloc(header->block, whole);
    if (!moved) {
        if (whole > old) discharge(allocator, whole - old);
        return NULL;
    }
    if (whole < old) discharge(allocator, old - whole);
    *moved = (struct header){moved, whole, allocator, 0};
    return moved + 1;
}

void *cst_memory_realloc(void *memory, size_t size, cst_allocator_handle allocator) {
    if (size == 0) {
        cst_memory_free(memory);
        return NULL;
    }
    struct header *header = header_of(memory);
    if (allocator == CST_ALLOCATOR_NULL) allocator = header->allocator;
    size_t held = header->size - (size_t)((char *)memory - (char *)header->block);
    while (allocator != CST_ALLOCATOR_NULL) {
        if (can_resize(header, allocator)) {
            void *resized = resize(header, size, allocator);
            if (resized) return resized;
        } else {
            void *fresh = get(sizeof(void *), size, false, allocator);
            if (fresh) {
                memcpy(fresh, memory, held < size ? held : size);
                cst_memory_free(memory);
                return fresh;
            }
        }
        allocator = fall_back(allocator, size);
    }
    return NULL;
}
