/* The same calls for Fortran: every argument is an address, names end in an underscore, and a name
 * with _8_ takes default integers of eight bytes (gfortran -fdefault-integer-8). */
#include "abi/omp/both.h"
#include "abi/omp/prototypes.h"

#include "abi/whole.h"
#include "core/front.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

CST_WHOLE(omp_fortran);

/* Converts an eight-byte integer for a call that takes int: a value out of range becomes the
 * nearest int. */
static int narrow(int64_t value) {
    return value < INT_MIN ? INT_MIN : value > INT_MAX ? INT_MAX : (int)value;
}

#define EXPORT __attribute__((visibility("default")))

/* int name(void) */
#define ASK(name)                                                                                  \
    EXPORT int32_t name##_(void);                                                                  \
    int32_t name##_(void) {                                                                        \
        return name();                                                                             \
    }                                                                                              \
    CST_FOR_BOTH(name##_);
/* double name(void) */
#define ASK_TIME(name)                                                                             \
    EXPORT double name##_(void);                                                                   \
    double name##_(void) {                                                                         \
        return name();                                                                             \
    }                                                                                              \
    CST_FOR_BOTH(name##_);
/* int name(int) */
#define ASK_ABOUT(name)                                                                            \
    EXPORT int32_t name##_(const int32_t *about);                                                  \
    EXPORT int32_t name##_8_(const int64_t *about);                                                \
    int32_t name##_(const int32_t *about) {                                                        \
        return name(*about);                                                                       \
    }                                                                                              \
    int32_t name##_8_(const int64_t *about) {                                                      \
        return name(narrow(*about));                                                               \
    }                                                                                              \
    CST_FOR_BOTH(name##_);
/* void name(int) */
#define SET(name)                                                                                  \
    EXPORT void name##_(const int32_t *value);                                                     \
    EXPORT void name##_8_(const int64_t *value);                                                   \
    void name##_(const int32_t *value) {                                                           \
        name(*value);                                                                              \
    }                                                                                              \
    void name##_8_(const int64_t *value) {                                                         \
        name(narrow(*value));                                                                      \
    }                                                                                              \
    CST_FOR_BOTH(name##_);
/* void name(logical) */
#define SET_LOGICAL(name)                                                                          \
    EXPORT void name##_(const int32_t *value);                                                     \
    EXPORT void name##_8_(const int64_t *value);                                                   \
    void name##_(const int32_t *value) {                                                           \
        name(*value);                                                                              \
    }                                                                                              \
    void name##_8_(const int64_t *value) {                                                         \
        name(*value != 0);                                                                         \
    }                                                                                              \
    CST_FOR_BOTH(name##_);

ASK(omp_get_num_threads)
ASK(omp_get_max_threads)
ASK(omp_get_thread_num)
ASK(omp_get_num_procs)
ASK(omp_in_parallel)
ASK(omp_get_dynamic)
ASK(omp_get_nested)
ASK(omp_get_thread_limit)
ASK(omp_get_max_active_levels)
ASK(omp_get_supported_active_levels)
ASK(omp_get_level)
ASK(omp_get_active_level)
ASK(omp_in_final)
ASK(omp_in_explicit_task)
ASK(omp_get_cancellation)
ASK(omp_get_max_task_priority)
ASK(omp_get_num_teams)
ASK(omp_get_team_num)
ASK(omp_get_max_teams)
ASK(omp_get_teams_thread_limit)
ASK(omp_get_proc_bind)
ASK(omp_get_num_places)
ASK(omp_get_place_num)
ASK(omp_get_partition_num_places)
ASK(omp_get_default_device)
ASK(omp_get_num_devices)
ASK(omp_get_device_num)
ASK(omp_get_initial_device)
ASK(omp_is_initial_device)
ASK_TIME(omp_get_wtime)
ASK_TIME(omp_get_wtick)
ASK_ABOUT(omp_get_ancestor_thread_num)
ASK_ABOUT(omp_get_team_size)
ASK_ABOUT(omp_get_place_num_procs)
SET(omp_set_num_threads)
SET(omp_set_max_active_levels)
SET(omp_set_num_teams)
SET(omp_set_teams_thread_limit)
SET(omp_set_default_device)
SET_LOGICAL(omp_set_dynamic)
SET_LOGICAL(omp_set_nested)
SET_LOGICAL(omp_display_env)

#pragma GCC visibility push(default)

/* --- schedule ---------------------------------------------------------------------------- */

void omp_set_schedule_(const int32_t *kind, const int32_t *chunk);
void omp_set_schedule_8_(const int32_t *kind, const int64_t *chunk);
void omp_get_schedule_(int32_t *kind, int32_t *chunk);
void omp_get_schedule_8_(int32_t *kind, int64_t *chunk);

void omp_set_schedule_(const int32_t *kind, const int32_t *chunk) {
    omp_set_schedule((unsigned)*kind, *chunk);
}

void omp_set_schedule_8_(const int32_t *kind, const int64_t *chunk) {
    omp_set_schedule((unsigned)*kind, narrow(*chunk));
}

/* Fortran programs compare the kind, so the call returns it without the monotonic bit, as libgomp
 * does. */
void omp_get_schedule_(int32_t *kind, int32_t *chunk) {
    unsigned found;
    omp_get_schedule(&found, chunk);
    *kind = (int32_t)(found & ~OMP_SCHED_MONOTONIC);
}

void omp_get_schedule_8_(int32_t *kind, int64_t *chunk) {
    int32_t narrow_chunk;
    omp_get_schedule_(kind, &narrow_chunk);
    *chunk = narrow_chunk;
}

/* --- locks ------------------------------------------------------------------------------- */

/* integer(omp_lock_kind) has four bytes: the lock. integer(omp_nest_lock_kind) has eight, and a
 * nestable lock fits into them. */
void omp_init_lock_(omp_lock_t *lock);
void omp_init_lock_with_hint_(omp_lock_t *lock, const int32_t *hint);
void omp_destroy_lock_(omp_lock_t *lock);
void omp_set_lock_(omp_lock_t *lock);
void omp_unset_lock_(omp_lock_t *lock);
int32_t omp_test_lock_(omp_lock_t *lock);
void omp_init_nest_lock_(omp_nest_lock_t *lock);
void omp_init_nest_lock_with_hint_(omp_nest_lock_t *lock, const int32_t *hint);
void omp_destroy_nest_lock_(omp_nest_lock_t *lock);
void omp_set_nest_lock_(omp_nest_lock_t *lock);
void omp_unset_nest_lock_(omp_nest_lock_t *lock);
int32_t omp_test_nest_lock_(omp_nest_lock_t *lock);

void omp_init_lock_(omp_lock_t *lock) {
    omp_init_lock(lock);
}
void omp_destroy_lock_(omp_lock_t *lock) {
    omp_destroy_lock(lock);
}
void omp_set_lock_(omp_lock_t *lock) {
    omp_set_lock(lock);
}
void omp_unset_lock_(omp_lock_t *lock) {
    omp_unset_lock(lock);
}
int32_t omp_test_lock_(omp_lock_t *lock) {
    return omp_test_lock(lock);
}

void omp_init_lock_with_hint_(omp_lock_t *lock, const int32_t *hint) {
    omp_init_lock_with_hint(lock, *hint);
}

void omp_init_nest_lock_(omp_nest_lock_t *lock) {
    omp_init_nest_lock(lock);
}
void omp_init_nest_lock_with_hint_(omp_nest_lock_t *lock, const int32_t *hint) {
    omp_init_nest_lock_with_hint(lock, *hint);
}
void omp_destroy_nest_lock_(omp_nest_lock_t *lock) {
    omp_destroy_nest_lock(lock);
}
void omp_set_nest_lock_(omp_nest_lock_t *lock) {
    omp_set_nest_lock(lock);
}
void omp_unset_nest_lock_(omp_nest_lock_t *lock) {
    omp_unset_nest_lock(lock);
}
int32_t omp_test_nest_lock_(omp_nest_lock_t *lock) {
    return omp_test_nest_lock(lock);
}

/* --- places ------------------------------------------------------------------------------ */

void omp_get_place_proc_ids_(const int32_t *place, int32_t *ids);
void omp_get_place_proc_ids_8_(const int64_t *place, int64_t *ids);
void omp_get_partition_place_nums_(int32_t *places);
void omp_get_partition_place_nums_8_(int64_t *places);

void omp_get_place_proc_ids_(const int32_t *place, int32_t *ids) {
    omp_get_place_proc_ids(*place, ids);
}

void omp_get_partition_place_nums_(int32_t *places) {
    omp_get_partition_place_nums(places);
}

/* Widens the numbers in place, from the last to the first: the wide array begins where the narrow
 * one begins. */
static void widen(int64_t *wide, int count) {
    for (int i = count - 1; i >= 0; i--) {
        int32_t narrow_value;
        memcpy(&narrow_value, (char *)wide + (size_t)i * sizeof narrow_value, sizeof narrow_value);
        wide[i] = narrow_value;
    }
}

void omp_get_place_proc_ids_8_(const int64_t *place, int64_t *ids) {
    int number = narrow(*place);
    omp_get_place_proc_ids(number, (int *)ids);
    widen(ids, omp_get_place_num_procs(number));
}

void omp_get_partition_place_nums_8_(int64_t *places) {
    omp_get_partition_place_nums((int *)places);
    widen(places, omp_get_partition_num_places());
}

/* --- resources, events, memory ----------------------------------------------------------- */

void omp_fulfill_event_(intptr_t event);
int32_t omp_pause_resource_(const int32_t *kind, const int32_t *device);
int32_t omp_pause_resource_all_(const int32_t *kind);
intptr_t omp_init_allocator_(const intptr_t *space, const int32_t *count,
                             const omp_alloctrait_t *traits);
intptr_t omp_init_allocator_8_(const intptr_t *space, const int64_t *count,
                               const omp_alloctrait_t *traits);
void omp_destroy_allocator_(const intptr_t *allocator);
void omp_set_default_allocator_(const intptr_t *allocator);
intptr_t omp_get_default_allocator_(void);

void omp_fulfill_event_(intptr_t event) {
    omp_fulfill_event((omp_event_handle_t)event);
}

int32_t omp_pause_resource_(const int32_t *kind, const int32_t *device) {
    return omp_pause_resource(*kind, *device);
}

int32_t omp_pause_resource_all_(const int32_t *kind) {
    return omp_pause_resource_all(*kind);
}

intptr_t omp_init_allocator_(const intptr_t *space, const int32_t *count,
                             const omp_alloctrait_t *traits) {
    return (intptr_t)omp_init_allocator((omp_memspace_handle_t)*space, *count, traits);
}

intptr_t omp_init_allocator_8_(const intptr_t *space, const int64_t *count,
                               const omp_alloctrait_t *traits) {
    return (intptr_t)omp_init_allocator((omp_memspace_handle_t)*space, narrow(*count), traits);
}

void omp_destroy_allocator_(const intptr_t *allocator) {
    omp_destroy_allocator((omp_allocator_handle_t)*allocator);
}

void omp_set_default_allocator_(const intptr_t *allocator) {
    omp_set_default_allocator((omp_allocator_handle_t)*allocator);
}

intptr_t omp_get_default_allocator_(void) {
    return (intptr_t)omp_get_default_allocator();
}

/* --- texts ------------------------------------------------------------------------------- */

/* A Fortran text has a length, passed after the other arguments, and no end mark. Blanks fill up a
 * shorter text. A result of any length is an address and a length. */

void omp_set_affinity_format_(const char *format, size_t length);
int32_t omp_get_affinity_format_(char *buffer, size_t size);
void omp_display_affinity_(const char *format, size_t length);
int32_t omp_capture_affinity_(char *buffer, const char *format, size_t size, size_t length);
int omp_get_num_interop_properties_(omp_interop_t object);
intptr_t omp_get_interop_int_(omp_interop_t object, int property, int *result);
void *omp_get_interop_ptr_(omp_interop_t object, int property, int *result);
void omp_get_interop_str_(const char **text, size_t *length, omp_interop_t object, int property,
                          int *result);
void omp_get_interop_name_(const char **text, size_t *length, omp_interop_t object, int property);
void omp_get_interop_type_desc_(const char **text, size_t *length, omp_interop_t object,
                                int property);
void omp_get_interop_rc_desc_(const char **text, size_t *length, omp_interop_t object, int result);
void omp_get_uid_from_device_(const char **text, size_t *length, int32_t device);
void omp_get_uid_from_device_8_(const char **text, size_t *length, int64_t device);
int omp_get_device_from_uid_(const char *uid, size_t length);

/* The text with an end mark; the caller frees it. */
static char *c_text(const char *text, size_t length) {
    char *copy = cst_memory_get("a text", length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

static void fill_up(char *buffer, size_t size, size_t length) {
    if (length < size) memset(buffer + length, ' ', size - length);
}

static void give(const char *text, const char **to, size_t *length) {
    *to = text;
    *length = text ? strlen(text) : 0;
}

void omp_set_affinity_format_(const char *format, size_t length) {
    cst_affinity_set_format(format, length);
}

int32_t omp_get_affinity_format_(char *buffer, size_t size) {
    size_t length = cst_affinity_get_format(buffer, size);
    fill_up(buffer, size, length);
    return (int32_t)length;
}

void omp_display_affinity_(const char *format, size_t length) {
    char *text = c_text(format, length);
    omp_display_affinity(text);
    free(text);
}

int32_t omp_capture_affinity_(char *buffer, const char *format, size_t size, size_t length) {
    char *text = c_text(format, length);
    size_t written = cst_affinity_capture(buffer, size, text);
    free(text);
    fill_up(buffer, size, written);
    return (int32_t)written;
}

/* Only libomp has these three; libgomp's module calls the C names. */
int omp_get_num_interop_properties_(omp_interop_t object) {
    return omp_get_num_interop_properties(object);
}

intptr_t omp_get_interop_int_(omp_interop_t object, int property, int *result) {
    return omp_get_interop_int(object, property, result);
}

void *omp_get_interop_ptr_(omp_interop_t object, int property, int *result) {
    return omp_get_interop_ptr(object, property, result);
}

void omp_get_interop_str_(const char **text, size_t *length, omp_interop_t object, int property,
                          int *result) {
    give(omp_get_interop_str(object, property, result), text, length);
}

void omp_get_interop_name_(const char **text, size_t *length, omp_interop_t object, int property) {
    give(omp_get_interop_name(object, property), text, length);
}

void omp_get_interop_type_desc_(const char **text, size_t *length, omp_interop_t object,
                                int property) {
    give(omp_get_interop_type_desc(object, property), text, length);
}

void omp_get_interop_rc_desc_(const char **text, size_t *length, omp_interop_t object, int result) {
    give(omp_get_interop_rc_desc(object, result), text, length);
}

void omp_get_uid_from_device_(const char **text, size_t *length, int32_t device) {
    give(omp_get_uid_from_device(device), text, length);
}

void omp_get_uid_from_device_8_(const char **text, size_t *length, int64_t device) {
    omp_get_uid_from_device_(text, length, narrow(device));
}

int omp_get_device_from_uid_(const char *uid, size_t length) {
    char *text = c_text(uid, length);
    int device = omp_get_device_from_uid(text);
    free(text);
    return device;
}

#pragma GCC visibility pop

/* --- the same for programs of clang --------------------------------------------------------- */

CST_FOR_BOTH(omp_set_schedule_);
CST_FOR_BOTH(omp_init_lock_);
CST_FOR_BOTH(omp_destroy_lock_);
CST_FOR_BOTH(omp_set_lock_);
CST_FOR_BOTH(omp_unset_lock_);
CST_FOR_BOTH(omp_test_lock_);
CST_FOR_BOTH(omp_init_lock_with_hint_);
CST_FOR_BOTH(omp_init_nest_lock_);
CST_FOR_BOTH(omp_init_nest_lock_with_hint_);
CST_FOR_BOTH(omp_destroy_nest_lock_);
CST_FOR_BOTH(omp_set_nest_lock_);
CST_FOR_BOTH(omp_unset_nest_lock_);
CST_FOR_BOTH(omp_test_nest_lock_);
CST_FOR_BOTH(omp_get_place_proc_ids_);
CST_FOR_BOTH(omp_get_partition_place_nums_);
CST_FOR_BOTH(omp_fulfill_event_);
CST_FOR_BOTH(omp_pause_resource_);
CST_FOR_BOTH(omp_pause_resource_all_);
CST_FOR_BOTH(omp_init_allocator_);
CST_FOR_BOTH(omp_destroy_allocator_);
CST_FOR_BOTH(omp_set_default_allocator_);
CST_FOR_BOTH(omp_get_default_allocator_);
CST_FOR_BOTH(omp_get_interop_str_);
CST_FOR_BOTH(omp_get_interop_name_);
CST_FOR_BOTH(omp_get_interop_type_desc_);
CST_FOR_BOTH(omp_get_interop_rc_desc_);
CST_FOR_BOTH(omp_get_uid_from_device_);
CST_FOR_BOTH(omp_get_device_from_uid_);

CST_FOR_BOTH(omp_set_affinity_format_);
CST_FOR_BOTH(omp_get_affinity_format_);
CST_FOR_BOTH(omp_capture_affinity_);
CST_FOR_BOTH(omp_display_affinity_);
