/* Calls of OpenMP 5.1 to 6.0 that an older <omp.h> does not declare. On a host without devices they
 * answer like libgomp 16.
 *
 * test: not stock GCC 12's library has none of these calls
 */
#include "testing.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

static int (*omp_in_explicit_task)(void);
static void *(*omp_get_mapped_ptr)(const void *, int);
static int (*omp_target_is_accessible)(const void *, size_t, int);
static int (*omp_target_memcpy_async)(void *, const void *, size_t, size_t, size_t, int, int, int,
                                      void *);
static int (*omp_target_memcpy_rect_async)(void *, const void *, size_t, int, const size_t *,
                                           const size_t *, const size_t *, const size_t *,
                                           const size_t *, int, int, int, void *);
static void *(*omp_target_memset)(void *, int, size_t, int);
static void *(*omp_target_memset_async)(void *, int, size_t, int, int, void *);
static const char *(*omp_get_uid_from_device)(int);
static int (*omp_get_device_from_uid)(const char *);
static int (*omp_get_num_interop_properties)(uintptr_t);
static intptr_t (*omp_get_interop_int)(uintptr_t, int, int *);
static void *(*omp_get_interop_ptr)(uintptr_t, int, int *);
static const char *(*omp_get_interop_str)(uintptr_t, int, int *);
static const char *(*omp_get_interop_name)(uintptr_t, int);
static const char *(*omp_get_interop_type_desc)(uintptr_t, int);
static const char *(*omp_get_interop_rc_desc)(uintptr_t, int);
static int (*omp_control_tool)(int, int, void *);
static void (*GOMP_interop)(int, int, void ***, const int *, const char **, int, void **, int,
                            void ***, unsigned, void **);
static void (*GOMP_add_alloc)(void *);
static _Bool (*GOMP_is_alloc)(void *);

/* Looks the call up by name at run time, as the library with which this program is linked may be
 * older. */
#define FIND(name) (*(void **)&name = dlsym(RTLD_DEFAULT, #name), CHECK(name != NULL))

static void find_all(void) {
    FIND(omp_in_explicit_task);
    FIND(omp_get_mapped_ptr);
    FIND(omp_target_is_accessible);
    FIND(omp_target_memcpy_async);
    FIND(omp_target_memcpy_rect_async);
    FIND(omp_target_memset);
    FIND(omp_target_memset_async);
    FIND(omp_get_uid_from_device);
    FIND(omp_get_device_from_uid);
    FIND(omp_get_num_interop_properties);
    FIND(omp_get_interop_int);
    FIND(omp_get_interop_ptr);
    FIND(omp_get_interop_str);
    FIND(omp_get_interop_name);
    FIND(omp_get_interop_type_desc);
    FIND(omp_get_interop_rc_desc);
    FIND(omp_control_tool);
    FIND(GOMP_interop);
    FIND(GOMP_add_alloc);
    FIND(GOMP_is_alloc);
}

enum { HOST = 0, INITIAL = -1, DEFAULT = -5, NOT_A_DEVICE = 7 };

/* The libraries of these releases find a null pointer accessible, and know no default device. */
static const int old_answers = __GNUC__ >= 13 && __GNUC__ < 16;

static void tasks(void) {
    int inside = -1;
    CHECK_EQ(omp_in_explicit_task(), 0);
#pragma omp parallel num_threads(2)
    {
        CHECK_EQ(omp_in_explicit_task(), 0);
#pragma omp single
        {
#pragma omp task shared(inside)
            inside = omp_in_explicit_task();
#pragma omp taskwait
        }
    }
    CHECK_EQ(inside, 1);
}

static void memory(void) {
    static const int hosts[] = {HOST, INITIAL, DEFAULT};
    char from[16] = "fifteen letters", to[16];
    for (int i = 0; i < 3; i++) {
        int host = hosts[i];
        CHECK(omp_get_mapped_ptr(from, host) == from);
        CHECK_EQ(omp_target_is_accessible(from, 4, host), !(old_answers && host == DEFAULT));
        CHECK_EQ(omp_target_is_accessible(NULL, 4, host), old_answers && host != DEFAULT);
        memset(to, 0, sizeof to);
        CHECK_EQ(omp_target_memcpy_async(to, from, 7, 1, 2, host, host, 0, NULL), 0);
#pragma omp taskwait
        CHECK(memcmp(to + 1, from + 2, 7) == 0);
        CHECK(omp_target_memset(to, 'x', 3, host) == to);
        CHECK(memcmp(to, "xxx", 3) == 0);
        CHECK(omp_target_memset_async(to, 'y', 2, host, 0, NULL) == to);
#pragma omp taskwait
        CHECK(memcmp(to, "yyx", 3) == 0);
    }
    CHECK(omp_get_mapped_ptr(from, NOT_A_DEVICE) == NULL);
    CHECK(omp_get_mapped_ptr(NULL, HOST) == NULL);
    CHECK_EQ(omp_target_is_accessible(from, 4, NOT_A_DEVICE), 0);
    CHECK_EQ(omp_target_memcpy_async(to, from, 7, 0, 0, NOT_A_DEVICE, HOST, 0, NULL), EINVAL);
}

/* Copies a 2x3 part of a 4x5 matrix into the middle of a 3x6 matrix. */
static void rectangles(void) {
    int from[4][5], to[3][6] = {{0}};
    for (int i = 0; i < 20; i++) from[i / 5][i % 5] = 100 + i;
    const size_t volume[] = {2, 3}, to_offsets[] = {1, 2}, from_offsets[] = {2, 1};
    const size_t to_sizes[] = {3, 6}, from_sizes[] = {4, 5};
    CHECK_EQ(omp_target_memcpy_rect_async(to, from, sizeof(int), 2, volume, to_offsets,
                                          from_offsets, to_sizes, from_sizes, HOST, HOST, 0, NULL),
             0);
#pragma omp taskwait
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 6; j++) {
            int inside = i >= 1 && j >= 2 && j < 5;
            CHECK_EQ(to[i][j], inside ? from[i + 1][j - 1] : 0);
        }
    CHECK_EQ(omp_target_memcpy_rect_async(NULL, NULL, 4, 0, NULL, NULL, NULL, NULL, NULL, HOST,
                                          HOST, 0, NULL),
             2147483647);
}

static void devices(void) {
    const char *uid = omp_get_uid_from_device(INITIAL);
    CHECK(uid != NULL);
    CHECK(omp_get_uid_from_device(HOST) == uid);
    CHECK(omp_get_uid_from_device(NOT_A_DEVICE) == NULL);
    CHECK_EQ(omp_get_device_from_uid(uid), INITIAL);
    CHECK_EQ(omp_get_device_from_uid("no such thing"), -4);
    CHECK_EQ(omp_control_tool(1, 0, NULL), -2);
}

static void interoperability(void) {
    int result = 99;
    CHECK_EQ(omp_get_num_interop_properties(0), 0);
    CHECK_EQ(omp_get_interop_int(0, -1, &result), 0);
    CHECK_EQ(result, -1);
    CHECK(omp_get_interop_ptr(0, -9, &result) == NULL);
    CHECK_EQ(result, -1);
    CHECK(omp_get_interop_str(0, -10, &result) == NULL);
    CHECK_EQ(result, -2);
    CHECK(omp_get_interop_str(0, 0, NULL) == NULL);
    CHECK(strcmp(omp_get_interop_name(0, -1), "fr_id") == 0);
    CHECK(strcmp(omp_get_interop_name(0, -9), "targetsync") == 0);
    CHECK(omp_get_interop_name(0, -10) == NULL && omp_get_interop_name(0, 0) == NULL);
    CHECK(omp_get_interop_type_desc(0, -1) == NULL);
    CHECK(strcmp(omp_get_interop_rc_desc(0, 0), "successful") == 0);
    CHECK(omp_get_interop_rc_desc(0, 2) == NULL && omp_get_interop_rc_desc(0, -6) == NULL);

    void *one = &result, *two = &result, **inits[] = {&one, &two}, **destroys[] = {&one};
    const int kinds[] = {1, 2};
    GOMP_interop(DEFAULT, 2, inits, kinds, NULL, 0, NULL, 0, NULL, 0, NULL);
    CHECK(one == NULL && two == NULL);
    GOMP_interop(DEFAULT, 0, NULL, NULL, NULL, 1, &two, 1, destroys, 0, NULL);
    CHECK(one == NULL);
}

static void fortran_allocations(void) {
    char memory_of_one[16];
    CHECK(!GOMP_is_alloc(memory_of_one));
    GOMP_add_alloc(memory_of_one);
    CHECK(GOMP_is_alloc(memory_of_one));
    CHECK(!GOMP_is_alloc(memory_of_one));
}

int main(void) {
    test_limit(30);
    find_all();
    tasks();
    memory();
    rectangles();
    devices();
    interoperability();
    fortran_allocations();
    return 0;
}
