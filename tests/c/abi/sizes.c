/* Sizes and counts whose products do not fit their type, or that leave a loop nothing to do. Each
 * call answers with an error or does its work, in a bounded number of steps.
 *
 * test: not stock libgomp ends by a signal, or not at all
 * test: not address AddressSanitizer's malloc ends the program for such a size
 */
#include "testing.h"

#include <errno.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MANY = 300000 };

void GOMP_taskloop(void (*body)(void *), void *data, void (*copy)(void *, void *), long size,
                   long alignment, unsigned flags, unsigned long tasks, int priority, long start,
                   long end, long step);

static size_t volume[MANY], offsets[MANY], extent[MANY];
static signed char from[64], to[64];

static int copy(size_t element, int dimensions) {
    return omp_target_memcpy_rect(to, from, element, dimensions, volume, offsets, offsets, extent,
                                  extent, omp_get_initial_device(), omp_get_initial_device());
}

/* Any number of elements of size 0 takes 0 bytes. */
static void empty_boxes(void) {
    for (int empty = 0; empty < 3; empty++) {
        for (int i = 0; i < 3; i++) {
            volume[i] = i == empty ? 0 : (size_t)1 << 62;
            extent[i] = 1;
        }
        CHECK_EQ(copy(1, 3), 0);
    }
    volume[0] = volume[1] = (size_t)1 << 40;
    CHECK_EQ(copy(0, 2), 0);
}

static void boxes_that_do_not_fit(void) {
    extent[0] = extent[1] = 1;
    volume[0] = volume[1] = (size_t)1 << 40;
    CHECK_EQ(copy(1, 2), EINVAL);
    volume[0] = volume[1] = 1;
    offsets[0] = (size_t)1 << 63;
    offsets[1] = (size_t)1 << 63;
    CHECK_EQ(copy(1, 2), EINVAL);
    offsets[0] = offsets[1] = 0;
    extent[1] = SIZE_MAX;
    CHECK_EQ(copy(2, 2), EINVAL);
    CHECK_EQ(copy(1, 0), EINVAL);
    CHECK_EQ(copy(1, -1), EINVAL);
}

/* Any number of dimensions is allowed: a dimension of one element costs no stack. */
static void many_dimensions(void) {
    for (int i = 0; i < MANY; i++) {
        volume[i] = extent[i] = 1;
        offsets[i] = 0;
    }
    int rows = 7, columns = MANY - 3;
    volume[rows] = 3;
    volume[columns] = 2;
    volume[MANY - 1] = 2;
    extent[rows] = extent[columns] = extent[MANY - 1] = 4;
    offsets[columns] = 1;
    for (int i = 0; i < 64; i++) from[i] = (signed char)i;
    memset(to, -1, sizeof to);
    CHECK_EQ(copy(1, MANY), 0);
    for (int i = 0; i < 64; i++) {
        int row = i / 16, column = i / 4 % 4, depth = i % 4;
        bool inside = row < 3 && column >= 1 && column < 3 && depth < 2;
        CHECK_EQ(to[i], inside ? i : -1);
    }
}

static void allocations(void) {
    omp_alloctrait_t traits[] = {{omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t null = omp_init_allocator(omp_default_mem_space, 1, traits);
    CHECK(null != omp_null_allocator);
    CHECK(omp_calloc(SIZE_MAX / 2 + 2, 2, null) == NULL);
    CHECK(omp_alloc(SIZE_MAX - 8, null) == NULL);
    CHECK(omp_aligned_alloc((size_t)1 << 63, 16, null) == NULL);
    void *memory = omp_alloc(16, null);
    CHECK(memory != NULL);
    CHECK(omp_realloc(memory, SIZE_MAX - 8, null, null) == NULL);
    omp_free(memory, null);
    omp_destroy_allocator(null);
}

/* With an alignment that is no power of two, the library's note before the memory would lie before
 * the block. */
static void no_power_of_two(void) {
    static const size_t alignments[] = {3, 24, 40, 96, SIZE_MAX};
    int given = 0, errors = dup(2); /* each call warns */
    close(2);
    for (size_t i = 0; i < sizeof alignments / sizeof *alignments; i++) {
        given += omp_aligned_alloc(alignments[i], 16, omp_default_mem_alloc) != NULL;
        given += omp_aligned_calloc(alignments[i], 2, 16, omp_default_mem_alloc) != NULL;
    }
    dup2(errors, 2);
    CHECK_EQ(given, 0);
    void *memory = omp_aligned_alloc(0, 16, omp_default_mem_alloc);
    CHECK(memory != NULL);
    omp_free(memory, omp_default_mem_alloc);
}

static long iterations;

static void add(void *bounds) {
    iterations += ((long *)bounds)[1] - ((long *)bounds)[0];
}

static void grains_of_nothing(void) {
    enum { GRAINSIZE = 1 << 9, STRICT = 1 << 14 };
    long bounds[2] = {0, 0};
    GOMP_taskloop(add, bounds, NULL, sizeof bounds, 8, GRAINSIZE, 0, 0, 0, 10, 1);
    CHECK_EQ(iterations, 10);
    GOMP_taskloop(add, bounds, NULL, sizeof bounds, 8, GRAINSIZE | STRICT, 0, 0, 0, 10, 1);
    CHECK_EQ(iterations, 20);
}

int main(void) {
    test_limit(30);
    empty_boxes();
    boxes_that_do_not_fit();
    many_dimensions();
    allocations();
    no_power_of_two();
    grains_of_nothing();
    return 0;
}
