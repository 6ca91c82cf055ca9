/* The user's calls with plain types: what <omp.h> and omp_lib of GCC 4.2 to 16 declare.
 *
 * It is not <omp.h>, because the compiler's own contains only the calls of its release.
 * Enumerations are int, handles uintptr_t. tests/c/abi compares with the compiler's header. */
#ifndef CST_ABI_OMP_PROTOTYPES_H
#define CST_ABI_OMP_PROTOTYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OMP_SCHED_STATIC = 1, OMP_SCHED_DYNAMIC = 2, OMP_SCHED_GUIDED = 3, OMP_SCHED_AUTO = 4 };
#define OMP_SCHED_MONOTONIC 0x80000000u

typedef struct {
    _Alignas(4) unsigned char bytes[4];
} omp_lock_t;
typedef struct {
    _Alignas(8) unsigned char bytes[16];
} omp_nest_lock_t;
typedef struct {
    void *words[2];
} omp_depend_t;
typedef struct {
    int key;
    uintptr_t value;
} omp_alloctrait_t;
typedef uintptr_t omp_allocator_handle_t;
typedef uintptr_t omp_memspace_handle_t;
typedef uintptr_t omp_event_handle_t;
typedef uintptr_t omp_interop_t;

#pragma GCC visibility push(default)

/* threads, levels, control variables (api.c) */
void omp_set_num_threads(int threads);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_get_thread_num(void);
int omp_get_num_procs(void);
int omp_in_parallel(void);
void omp_set_dynamic(int dynamic);
int omp_get_dynamic(void);
void omp_set_nested(int nested);
int omp_get_nested(void);
void omp_set_schedule(unsigned kind, int chunk);
void omp_get_schedule(unsigned *kind, int *chunk);
int omp_get_thread_limit(void);
void omp_set_max_active_levels(int levels);
int omp_get_max_active_levels(void);
int omp_get_supported_active_levels(void);
int omp_get_level(void);
int omp_get_ancestor_thread_num(int level);
int omp_get_team_size(int level);
int omp_get_active_level(void);
int omp_in_final(void);
int omp_in_explicit_task(void);
int omp_get_cancellation(void);
int omp_get_max_task_priority(void);
double omp_get_wtime(void);
double omp_get_wtick(void);
void omp_fulfill_event(omp_event_handle_t event);
int omp_pause_resource(int kind, int device);
int omp_pause_resource_all(int kind);
int omp_control_tool(int command, int modifier, void *argument);

/* teams (api.c) */
int omp_get_num_teams(void);
int omp_get_team_num(void);
void omp_set_num_teams(int teams);
int omp_get_max_teams(void);
void omp_set_teams_thread_limit(int limit);
int omp_get_teams_thread_limit(void);

/* locks (lock.c) */
void omp_init_lock(omp_lock_t *lock);
void omp_init_lock_with_hint(omp_lock_t *lock, int hint);
void omp_destroy_lock(omp_lock_t *lock);
void omp_set_lock(omp_lock_t *lock);
void omp_unset_lock(omp_lock_t *lock);
int omp_test_lock(omp_lock_t *lock);
void omp_init_nest_lock(omp_nest_lock_t *lock);
void omp_init_nest_lock_with_hint(omp_nest_lock_t *lock, int hint);
void omp_destroy_nest_lock(omp_nest_lock_t *lock);
void omp_set_nest_lock(omp_nest_lock_t *lock);
void omp_unset_nest_lock(omp_nest_lock_t *lock);
int omp_test_nest_lock(omp_nest_lock_t *lock);

/* places and affinity (place.c, display.c) */
int omp_get_proc_bind(void);
int omp_get_num_places(void);
int omp_get_place_num_procs(int place);
void omp_get_place_proc_ids(int place, int *ids);
int omp_get_place_num(void);
int omp_get_partition_num_places(void);
void omp_get_partition_place_nums(int *places);
void omp_set_affinity_format(const char *format);
size_t omp_get_affinity_format(char *buffer, size_t size);
void omp_display_affinity(const char *format);
size_t omp_capture_affinity(char *buffer, size_t size, const char *format);
void omp_display_env(int verbose);

/* memory (alloc.c) */
omp_allocator_handle_t omp_init_allocator(omp_memspace_handle_t space, int count,
                                          const omp_alloctrait_t *traits);
void omp_destroy_allocator(omp_allocator_handle_t allocator);
void omp_set_default_allocator(omp_allocator_handle_t allocator);
omp_allocator_handle_t omp_get_default_allocator(void);
void *omp_alloc(size_t size, omp_allocator_handle_t allocator);
void *omp_aligned_alloc(size_t alignment, size_t size, omp_allocator_handle_t allocator);
void *omp_calloc(size_t count, size_t size, omp_allocator_handle_t allocator);
void *omp_aligned_calloc(size_t alignment, size_t count, size_t size,
                         omp_allocator_handle_t allocator);
void *omp_realloc(void *memory, size_t size, omp_allocator_handle_t allocator,
                  omp_allocator_handle_t free_allocator);
void omp_free(void *memory, omp_allocator_handle_t allocator);

/* devices (device.c, memory.c of targets) */
void omp_set_default_device(int device);
int omp_get_default_device(void);
int omp_get_num_devices(void);
int omp_get_device_num(void);
int omp_is_initial_device(void);
int omp_get_initial_device(void);
void *omp_target_alloc(size_t size, int device);
void omp_target_free(void *memory, int device);
int omp_target_is_present(const void *memory, int device);
int omp_target_is_accessible(const void *memory, size_t size, int device);
int omp_target_associate_ptr(const void *host, const void *device_memory, size_t size,
                             size_t offset, int device);
int omp_target_disassociate_ptr(const void *host, int device);
void *omp_get_mapped_ptr(const void *memory, int device);
int omp_target_memcpy(void *to, const void *from, size_t length, size_t to_offset,
                      size_t from_offset, int to_device, int from_device);
int omp_target_memcpy_async(void *to, const void *from, size_t length, size_t to_offset,
                            size_t from_offset, int to_device, int from_device, int count,
                            omp_depend_t *depend);
int omp_target_memcpy_rect(void *to, const void *from, size_t element, int dimensions,
                           const size_t *volume, const size_t *to_offsets,
                           const size_t *from_offsets, const size_t *to_sizes,
                           const size_t *from_sizes, int to_device, int from_device);
int omp_target_memcpy_rect_async(void *to, const void *from, size_t element, int dimensions,
                                 const size_t *volume, const size_t *to_offsets,
                                 const size_t *from_offsets, const size_t *to_sizes,
                                 const size_t *from_sizes, int to_device, int from_device,
                                 int count, omp_depend_t *depend);
void *omp_target_memset(void *memory, int value, size_t count, int device);
void *omp_target_memset_async(void *memory, int value, size_t length, int device, int count,
                              omp_depend_t *depend);
const char *omp_get_uid_from_device(int device);
int omp_get_device_from_uid(const char *uid);

/* interoperability objects (interop.c) */
int omp_get_num_interop_properties(omp_interop_t object);
intptr_t omp_get_interop_int(omp_interop_t object, int property, int *result);
void *omp_get_interop_ptr(omp_interop_t object, int property, int *result);
const char *omp_get_interop_str(omp_interop_t object, int property, int *result);
const char *omp_get_interop_name(omp_interop_t object, int property);
const char *omp_get_interop_type_desc(omp_interop_t object, int property);
const char *omp_get_interop_rc_desc(omp_interop_t object, int result);

#pragma GCC visibility pop

#endif
