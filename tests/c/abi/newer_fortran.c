/* Fortran names, and calls that compilers emit, which are newer than GCC 12. The test looks them up
 * by name at run time.
 * test: not stock GCC 12's library has none of these calls
 */
#include "testing.h"

#include <dlfcn.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A call of this type returns a text as an address and a length. */
typedef void text_of_property(const char **, size_t *, uintptr_t, int);

static void (*omp_init_lock_with_hint_)(void *, const int32_t *);
static void (*omp_init_nest_lock_with_hint_)(void *, const int32_t *);
static int (*omp_in_explicit_task_)(void);
static void (*omp_get_uid_from_device_)(const char **, size_t *, int32_t);
static void (*omp_get_uid_from_device_8_)(const char **, size_t *, int64_t);
static int (*omp_get_device_from_uid_)(const char *, size_t);
static int (*omp_get_num_interop_properties_)(uintptr_t);
static intptr_t (*omp_get_interop_int_)(uintptr_t, int, int *);
static void *(*omp_get_interop_ptr_)(uintptr_t, int, int *);
static void (*omp_get_interop_str_)(const char **, size_t *, uintptr_t, int, int *);
static text_of_property *omp_get_interop_name_, *omp_get_interop_type_desc_,
    *omp_get_interop_rc_desc_;
static void *(*GOMP_target_map_indirect_ptr)(void *);
static void (*GOMP_taskwait_depend_nowait)(void **);
extern void GOMP_task(void (*)(void *), void *, void (*)(void *, void *), long, long, bool,
                      unsigned, void **, int, void *);

#define FIND(name) (*(void **)&name = dlsym(RTLD_DEFAULT, #name), CHECK(name != NULL))

static void find_all(void) {
    FIND(omp_init_lock_with_hint_);
    FIND(omp_init_nest_lock_with_hint_);
    FIND(omp_in_explicit_task_);
    FIND(omp_get_uid_from_device_);
    FIND(omp_get_uid_from_device_8_);
    FIND(omp_get_device_from_uid_);
    FIND(omp_get_num_interop_properties_);
    FIND(omp_get_interop_int_);
    FIND(omp_get_interop_ptr_);
    FIND(omp_get_interop_str_);
    FIND(omp_get_interop_name_);
    FIND(omp_get_interop_type_desc_);
    FIND(omp_get_interop_rc_desc_);
    FIND(GOMP_target_map_indirect_ptr);
    FIND(GOMP_taskwait_depend_nowait);
}

extern void omp_set_lock_(void *), omp_unset_lock_(void *);
extern int omp_test_lock_(void *), omp_test_nest_lock_(void *);
extern void omp_unset_nest_lock_(void *);

/* A lock that is initialised in garbage memory is free. */
static void locks(void) {
    const int32_t hint = omp_sync_hint_contended;
    int32_t lock = -1;
    int64_t nest = -1;
    omp_init_lock_with_hint_(&lock, &hint);
    CHECK(omp_test_lock_(&lock) && !omp_test_lock_(&lock));
    omp_unset_lock_(&lock);
    omp_init_nest_lock_with_hint_(&nest, &hint);
    CHECK_EQ(omp_test_nest_lock_(&nest), 1);
    CHECK_EQ(omp_test_nest_lock_(&nest), 2);
    omp_unset_nest_lock_(&nest);
    omp_unset_nest_lock_(&nest);
}

static void texts(void) {
    const char *text = NULL;
    size_t length = 99;
    int result = 99;
    omp_get_uid_from_device_(&text, &length, omp_get_initial_device());
    CHECK(text != NULL && length > 0);
    CHECK_EQ(omp_get_device_from_uid_(text, length), -1);
    CHECK_EQ(omp_get_device_from_uid_("nobody", 6), -4);
    const char *same = NULL;
    omp_get_uid_from_device_8_(&same, &length, omp_get_initial_device());
    CHECK(same == text);
    omp_get_interop_name_(&text, &length, 0, -1);
    CHECK(length == 5 && !memcmp(text, "fr_id", 5));
    omp_get_interop_rc_desc_(&text, &length, 0, 0);
    CHECK(length == 10 && !memcmp(text, "successful", 10));
    length = 99;
    omp_get_interop_str_(&text, &length, 0, -10, &result);
    CHECK(length == 0 && result == -2);
    length = 99;
    omp_get_interop_type_desc_(&text, &length, 0, -1);
    CHECK_EQ(length, 0);
    CHECK_EQ(omp_get_num_interop_properties_(0), 0);
    result = 99;
    CHECK_EQ(omp_get_interop_int_(0, -1, &result), 0);
    CHECK_EQ(result, -1);
    result = 99;
    CHECK(omp_get_interop_ptr_(0, -9, &result) == NULL);
    CHECK_EQ(result, -1);
}

static int before, behind;

static void late(void *unused) {
    (void)unused;
    pause_ms(2);
    SET(&before, 1);
}

static void last(void *unused) {
    (void)unused;
    CHECK_EQ(GET(&before), 1);
    SET(&behind, 1);
}

/* An empty task in the graph depends on x and produces y. A task that waits for y so waits for
 * x. */
static void taskwait_nowait(int size) {
    enum { DEPEND = 8 };
    int x, y;
    void *on_x[] = {(void *)1, (void *)1, &x};
    void *from_x_to_y[] = {(void *)2, (void *)1, &y, &x};
    void *on_y[] = {(void *)1, (void *)0, &y};
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int round = 0; round < 5; round++) {
        void *nothing = NULL;
        SET(&before, 0);
        SET(&behind, 0);
        GOMP_task(late, &nothing, NULL, 8, 8, true, DEPEND, on_x, 0, NULL);
        GOMP_taskwait_depend_nowait(from_x_to_y);
        GOMP_task(last, &nothing, NULL, 8, 8, true, DEPEND, on_y, 0, NULL);
#pragma omp taskwait
        CHECK_EQ(GET(&behind), 1);
    }
}

int main(void) {
    test_limit(20);
    find_all();
    locks();
    texts();
    for (int size = 1; size <= 3; size++) taskwait_nowait(size);
    CHECK(GOMP_target_map_indirect_ptr(&before) == &before);
    CHECK_EQ(omp_in_explicit_task_(), 0);
    int inside = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task shared(inside)
        inside = omp_in_explicit_task_();
    }
    CHECK_EQ(inside, 1);
    return 0;
}
