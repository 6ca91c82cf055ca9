/* omp_alloc and its family, allocators with traits, and the allocate clause.
 *
 * test: not clang clang 14 passes the handle of an allocate clause in 32 bits
 */
#include "testing.h"
#include <omp.h>
#include <stdint.h>
#include <string.h>

static int filled_with(const unsigned char *memory, size_t size, int value) {
    for (size_t i = 0; i < size; i++)
        if (memory[i] != value) return 0;
    return 1;
}

static void predefined(void) {
    for (uintptr_t a = omp_default_mem_alloc; a <= omp_thread_mem_alloc; a++) {
        omp_allocator_handle_t allocator = (omp_allocator_handle_t)a;
        unsigned char *memory = omp_alloc(1000, allocator);
        CHECK(memory != NULL);
        memset(memory, 0x5a, 1000);
        memory = omp_realloc(memory, 5000, allocator, allocator);
        CHECK(memory != NULL && filled_with(memory, 1000, 0x5a));
        omp_free(memory, allocator);
        memory = omp_calloc(70, 100, allocator);
        CHECK(memory != NULL && filled_with(memory, 7000, 0));
        omp_free(memory, omp_null_allocator);
        memory = omp_aligned_alloc(4096, 8192, allocator);
        CHECK(memory != NULL && (uintptr_t)memory % 4096 == 0);
        omp_free(memory, allocator);
        memory = omp_aligned_calloc(512, 10, 512, allocator);
        CHECK(memory != NULL && (uintptr_t)memory % 512 == 0 && filled_with(memory, 5120, 0));
        omp_free(memory, allocator);
    }
    omp_free(NULL, omp_default_mem_alloc);
    CHECK(omp_calloc(SIZE_MAX / 2, 4, omp_default_mem_alloc) == NULL);
}

/* A pool limits the memory in use, not the sum of all requests. */
static void pool(void) {
    omp_alloctrait_t traits[] = {
        {omp_atk_pool_size, 4096}, {omp_atk_fallback, omp_atv_null_fb}, {omp_atk_alignment, 64}};
    omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 3, traits);
    CHECK(allocator != omp_null_allocator);
    for (int round = 0; round < 100; round++) {
        void *first = omp_alloc(2000, allocator);
        CHECK(first != NULL && (uintptr_t)first % 64 == 0);
        CHECK(omp_alloc(3000, allocator) == NULL);
        void *second = omp_alloc(1000, allocator);
        CHECK(second != NULL);
        omp_free(first, allocator);
        omp_free(second, allocator);
    }
    omp_destroy_allocator(allocator);
}

static void by_default(void) {
    CHECK_EQ(omp_get_default_allocator(), omp_default_mem_alloc);
    omp_set_default_allocator(omp_const_mem_alloc);
    CHECK_EQ(omp_get_default_allocator(), omp_const_mem_alloc);
#pragma omp parallel num_threads(3)
    {
        CHECK_EQ(omp_get_default_allocator(), omp_const_mem_alloc);
        if (omp_get_thread_num() == 1) {
            omp_set_default_allocator(omp_cgroup_mem_alloc);
            CHECK_EQ(omp_get_default_allocator(), omp_cgroup_mem_alloc);
        }
        void *memory = omp_alloc(100, omp_null_allocator);
        CHECK(memory != NULL);
        omp_free(memory, omp_null_allocator);
    }
    CHECK_EQ(omp_get_default_allocator(), omp_const_mem_alloc);
    omp_set_default_allocator(omp_default_mem_alloc);
}

/* The calls that the compiler makes for the clause: private copies come from an allocator. */
static void clause(void) {
    omp_alloctrait_t traits[] = {{omp_atk_alignment, 256}};
    omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 1, traits);
    char array[300];
    int sum = 0;
    memset(array, 7, sizeof array);
#pragma omp parallel num_threads(4) firstprivate(array) allocate(allocator : array)
    {
        CHECK_EQ((uintptr_t)array % 256, 0);
        for (unsigned i = 0; i < sizeof array; i++) CHECK_EQ(array[i], 7);
        array[0] = (char)omp_get_thread_num();
#pragma omp barrier
        CHECK_EQ(array[0], omp_get_thread_num());
    }
#pragma omp parallel for num_threads(4) reduction(+ : sum) allocate(omp_low_lat_mem_alloc : sum)
    for (int i = 0; i < 100; i++) sum += i;
    CHECK_EQ(sum, 4950);
    omp_destroy_allocator(allocator);
}

/* The copies return to the pool; otherwise this pool would soon be empty and end the process. */
static void clause_frees(void) {
    omp_alloctrait_t traits[] = {{omp_atk_pool_size, 100000}, {omp_atk_fallback, omp_atv_abort_fb}};
    omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 2, traits);
    char array[3000];
    memset(array, 7, sizeof array);
    for (int round = 0; round < 100; round++) {
#pragma omp parallel num_threads(3) firstprivate(array) allocate(allocator : array)
        CHECK_EQ(array[2999], 7);
    }
    omp_destroy_allocator(allocator);
}

static void everyone(void) {
#pragma omp parallel num_threads(4)
    for (int round = 0; round < 300; round++) {
        size_t size = 1 + (size_t)round * 13 % 900;
        unsigned char *memory = omp_alloc(size, omp_thread_mem_alloc);
        CHECK(memory != NULL);
        memset(memory, omp_get_thread_num(), size);
        sched_yield();
        CHECK(filled_with(memory, size, omp_get_thread_num()));
        omp_free(memory, omp_thread_mem_alloc);
    }
}

/* Small pinned blocks are neighbours in a page, also if they have different owners. GCC 12's
 * library refuses the trait. */
static void pinned(void) {
    const omp_alloctrait_t traits[] = {{omp_atk_pinned, omp_atv_true},
                                       {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 2, traits);
    void *memory = allocator == omp_null_allocator ? NULL : omp_alloc(1, allocator);
    if (!memory) return; /* no memory may be pinned here */
    omp_free(memory, allocator);
#pragma omp parallel num_threads(4)
    {
        enum { HELD = 50 };
        unsigned char *held[HELD] = {0};
        int seed = omp_get_thread_num() * HELD;
        for (int step = 0; step < 5000; step++) {
            int i = step * 7 % HELD;
            size_t size = 50 + 10 * (size_t)i;
            if (held[i]) CHECK(filled_with(held[i], size, seed + i));
            omp_free(held[i], allocator);
            held[i] = omp_alloc(size, allocator);
            CHECK(held[i] != NULL);
            memset(held[i], seed + i, size);
        }
        for (int i = 0; i < HELD; i++) omp_free(held[i], allocator);
    }
    omp_destroy_allocator(allocator);
}

int main(void) {
    test_limit(30);
    predefined();
    pool();
    by_default();
    clause();
    clause_frees();
    everyone();
    pinned();
    return 0;
}
