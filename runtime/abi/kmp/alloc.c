/* Memory that clang's code asks for: allocate clauses, and omp_alloc in other words. */
#include "abi/kmp/facts.h"
#include "abi/omp/prototypes.h"
#include "abi/whole.h"

CST_WHOLE(kmp_alloc);

uintptr_t __kmpc_init_allocator(int32_t thread, uintptr_t space, int32_t count,
                                const void *traits) {
    (void)thread;
    return omp_init_allocator(space, count, traits);
}

void __kmpc_destroy_allocator(int32_t thread, uintptr_t allocator) {
    (void)thread;
    omp_destroy_allocator(allocator);
}

void __kmpc_set_default_allocator(int32_t thread, uintptr_t allocator) {
    (void)thread;
    omp_set_default_allocator(allocator);
}

uintptr_t __kmpc_get_default_allocator(int32_t thread) {
    (void)thread;
    return omp_get_default_allocator();
}

void *__kmpc_alloc(int32_t thread, size_t size, uintptr_t allocator) {
    (void)thread;
    return omp_alloc(size, allocator);
}

void *__kmpc_aligned_alloc(int32_t thread, size_t alignment, size_t size, uintptr_t allocator) {
    (void)thread;
    return omp_aligned_alloc(alignment, size, allocator);
}

void *__kmpc_calloc(int32_t thread, size_t count, size_t size, uintptr_t allocator) {
    (void)thread;
    return omp_calloc(count, size, allocator);
}

void *__kmpc_realloc(int32_t thread, void *memory, size_t size, uintptr_t allocator,
                     uintptr_t free_allocator) {
    (void)thread;
    return omp_realloc(memory, size, allocator, free_allocator);
}

void __kmpc_free(int32_t thread, void *memory, uintptr_t allocator) {
    (void)thread;
    omp_free(memory, allocator);
}
