/* Facts of GCC's OpenMP ABI: the arguments and the calls of compiled code.
 *
 * Sizes, flag values and prototypes as GCC 4.2 to 16 emit them. Here are names and numbers only:
 * abi/gomp decodes the calls, and core executes them. */
#ifndef CST_ABI_FACTS_H
#define CST_ABI_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- objects in the program's memory ---------------------------------------------------- */

/* The sizes that <omp.h> promises for the program's lock variables. */
enum {
    GOMP_LOCK_SIZE = 4,
    GOMP_LOCK_ALIGNMENT = 4,
    GOMP_NEST_LOCK_SIZE = 16,
    GOMP_NEST_LOCK_ALIGNMENT = 8,
    GOMP_OLD_LOCK_SIZE = 4,                /* OMP_1.0 symbols, programs of GCC 4.2 and 4.3 */
    GOMP_OLD_NEST_LOCK_SIZE = 8,           /* the same */
    GOMP_FORTRAN_NEST_LOCK_SIZE = 8,       /* integer(omp_nest_lock_kind): holds a pointer */
    GOMP_DEPOBJ_SIZE = 2 * sizeof(void *), /* omp_depend_t */
};

/* --- constants in calls ------------------------------------------------------------------ */

/* Schedule argument of GOMP_loop_start and friends; 0 is schedule(runtime). omp_sched_t. */
enum {
    GOMP_SCHEDULE_RUNTIME = 0,
    GOMP_SCHEDULE_STATIC = 1,
    GOMP_SCHEDULE_DYNAMIC = 2,
    GOMP_SCHEDULE_GUIDED = 3,
    GOMP_SCHEDULE_AUTO = 4,
};
#define GOMP_SCHEDULE_MONOTONIC 0x80000000u

/* The construct that GOMP_cancel and GOMP_cancellation_point name. */
enum {
    GOMP_CANCEL_PARALLEL = 1,
    GOMP_CANCEL_LOOP = 2,
    GOMP_CANCEL_SECTIONS = 4,
    GOMP_CANCEL_TASKGROUP = 8,
};

/* Flags of GOMP_task and GOMP_taskloop. */
enum {
    GOMP_TASK_UNTIED = 1 << 0,
    GOMP_TASK_FINAL = 1 << 1,
    GOMP_TASK_MERGEABLE = 1 << 2,
    GOMP_TASK_DEPEND = 1 << 3,
    GOMP_TASK_PRIORITY = 1 << 4,
    GOMP_TASK_UP = 1 << 8, /* taskloop: the step is positive */
    GOMP_TASK_GRAINSIZE = 1 << 9,
    GOMP_TASK_IF = 1 << 10,
    GOMP_TASK_NOGROUP = 1 << 11,
    GOMP_TASK_REDUCTION = 1 << 12,
    GOMP_TASK_DETACH = 1 << 13,
    GOMP_TASK_STRICT = 1 << 14,
};

/* Kinds in a depend array; out and inout mean the same to the runtime. */
enum {
    GOMP_DEPEND_IN = 1,
    GOMP_DEPEND_OUT = 2,
    GOMP_DEPEND_INOUT = 3,
    GOMP_DEPEND_MUTEXINOUTSET = 4,
    GOMP_DEPEND_INOUTSET = 5,
};

/* Bits of proc_bind in the flags of GOMP_parallel: an omp_proc_bind_t. */
enum { GOMP_PARALLEL_BIND_MASK = 7 };

/* Device numbers that target calls pass. */
enum {
    GOMP_DEVICE_ICV = -1,           /* no device clause */
    GOMP_DEVICE_HOST_FALLBACK = -2, /* if(0), or device(omp_initial_device) */
    GOMP_DEVICE_INVALID = -4,       /* omp_invalid_device */
    GOMP_DEVICE_DEFAULT = -5,       /* omp_default_device of OpenMP 6.1 */
};

/* Flags of GOMP_target_ext, GOMP_target_update_ext, GOMP_target_enter_exit_data. */
#define GOMP_TARGET_NOWAIT (1u << 0)
#define GOMP_TARGET_EXIT_DATA (1u << 1)
#define GOMP_TARGET_UPDATE (1u << 31)

/* The args array of GOMP_target_ext: identifiers with a value in place or in the next word. */
enum {
    GOMP_TARGET_ARG_DEVICE_MASK = (1 << 7) - 1,
    GOMP_TARGET_ARG_DEVICE_ALL = 0,
    GOMP_TARGET_ARG_NEXT_WORD = 1 << 7,
    GOMP_TARGET_ARG_ID_MASK = ((1 << 8) - 1) << 8,
    GOMP_TARGET_ARG_NUM_TEAMS = 1 << 8,
    GOMP_TARGET_ARG_THREAD_LIMIT = 2 << 8,
    GOMP_TARGET_ARG_VALUE_SHIFT = 16,
};

/* Map kinds that a host fallback must distinguish: data private to the region is copied, and all
 * other data is the host's own. The kind is the low byte of an entry of `kinds`; the high byte is
 * the logarithm of the alignment. */
enum {
    GOMP_MAP_KIND_MASK = 0xff,
    GOMP_MAP_ALIGN_SHIFT = 8,
    GOMP_MAP_FIRSTPRIVATE = 0x0c,     /* hostaddrs[i] points to the value */
    GOMP_MAP_FIRSTPRIVATE_INT = 0x0d, /* hostaddrs[i] is the value */
    /* Follows a firstprivate entry (GCC 13). hostaddrs[i] points to an element of hostaddrs. That
     * element points to a descriptor. The pointer at sizes[i] bytes in the descriptor shall lead to
     * the private copy. */
    GOMP_MAP_ATTACH = 0x50,
    GOMP_MAP_USE_DEVICE_PTR = 0x0e,
    GOMP_MAP_ZERO_LEN_ARRAY_SECTION = 0x0f,
    GOMP_MAP_USE_DEVICE_PTR_IF_PRESENT = 0x10,
};

/* Flags of GOMP_interop. */
enum {
    GOMP_INTEROP_TARGET = 1 << 0,
    GOMP_INTEROP_TARGETSYNC = 1 << 1,
    GOMP_INTEROP_NOWAIT = 1 << 0,
};

/* Words of the array that describes task reductions: [0] variables, [1] bytes for each thread,
 * [2] alignment on entry and the memory on return, [3] allocator or -1 for malloc, [4] next array
 *     of a chain, [5] and [6] words of the runtime. Three words for each variable follow: its
 *     address, its offset, and a word of the runtime. */
enum {
    GOMP_REDUCTION_COUNT = 0,
    GOMP_REDUCTION_SIZE = 1,
    GOMP_REDUCTION_MEMORY = 2,
    GOMP_REDUCTION_ALLOCATOR = 3,
    GOMP_REDUCTION_NEXT = 4,
    GOMP_REDUCTION_OURS = 5,
    GOMP_REDUCTION_FIRST = 7,
    GOMP_REDUCTION_STRIDE = 3,
};

/* --- prototypes --------------------------------------------------------------------------- */

#pragma GCC visibility push(default)

typedef unsigned long long gomp_ull;
typedef void gomp_body(void *data);
typedef void gomp_copy(void *to, void *from);

/* barrier, critical, atomic */
void GOMP_barrier(void);
bool GOMP_barrier_cancel(void);
void GOMP_critical_start(void);
void GOMP_critical_end(void);
void GOMP_critical_name_start(void **slot);
void GOMP_critical_name_end(void **slot);
void GOMP_atomic_start(void);
void GOMP_atomic_end(void);

/* parallel */
void GOMP_parallel(gomp_body *body, void *data, unsigned threads, unsigned flags);
void GOMP_parallel_start(gomp_body *body, void *data, unsigned threads);
void GOMP_parallel_end(void);
unsigned GOMP_parallel_reductions(gomp_body *body, void *data, unsigned threads, unsigned flags);
bool GOMP_cancel(int which, bool wanted);
bool GOMP_cancellation_point(int which);
void GOMP_teams_reg(gomp_body *body, void *data, unsigned teams, unsigned limit, unsigned flags);
void GOMP_teams(unsigned teams, unsigned limit);
bool GOMP_teams4(unsigned least, unsigned most, unsigned limit, bool first);

/* loops over long: start, end, step, chunk */
typedef bool gomp_loop_start(long start, long end, long step, long chunk, long *first, long *last);
typedef bool gomp_loop_runtime_start(long start, long end, long step, long *first, long *last);
typedef bool gomp_loop_next(long *first, long *last);
typedef bool gomp_loop_start_reductions(long start, long end, long step, long schedule, long chunk,
                                        long *first, long *last, uintptr_t *reductions,
                                        void **memory);
typedef bool gomp_doacross_start(unsigned loops, long *counts, long chunk, long *first, long *last);
gomp_loop_start GOMP_loop_static_start, GOMP_loop_dynamic_start, GOMP_loop_guided_start,
    GOMP_loop_nonmonotonic_dynamic_start, GOMP_loop_nonmonotonic_guided_start,
    GOMP_loop_ordered_static_start, GOMP_loop_ordered_dynamic_start, GOMP_loop_ordered_guided_start;
gomp_loop_runtime_start GOMP_loop_runtime_start, GOMP_loop_nonmonotonic_runtime_start,
    GOMP_loop_maybe_nonmonotonic_runtime_start, GOMP_loop_ordered_runtime_start;
gomp_loop_start_reductions GOMP_loop_start, GOMP_loop_ordered_start;
gomp_loop_next GOMP_loop_static_next, GOMP_loop_dynamic_next, GOMP_loop_guided_next,
    GOMP_loop_runtime_next, GOMP_loop_nonmonotonic_dynamic_next, GOMP_loop_nonmonotonic_guided_next,
    GOMP_loop_nonmonotonic_runtime_next, GOMP_loop_maybe_nonmonotonic_runtime_next,
    GOMP_loop_ordered_static_next, GOMP_loop_ordered_dynamic_next, GOMP_loop_ordered_guided_next,
    GOMP_loop_ordered_runtime_next;
gomp_doacross_start GOMP_loop_doacross_static_start, GOMP_loop_doacross_dynamic_start,
    GOMP_loop_doacross_guided_start;
bool GOMP_loop_doacross_runtime_start(unsigned loops, long *counts, long *first, long *last);
bool GOMP_loop_doacross_start(unsigned loops, long *counts, long schedule, long chunk, long *first,
                              long *last, uintptr_t *reductions, void **memory);
void GOMP_loop_end(void);
void GOMP_loop_end_nowait(void);
bool GOMP_loop_end_cancel(void);

/* parallel loops; the _start forms return and are closed by GOMP_parallel_end */
typedef void gomp_parallel_loop_start(gomp_body *body, void *data, unsigned threads, long start,
                                      long end, long step, long chunk);
typedef void gomp_parallel_loop(gomp_body *body, void *data, unsigned threads, long start, long end,
                                long step, long chunk, unsigned flags);
typedef void gomp_parallel_loop_runtime(gomp_body *body, void *data, unsigned threads, long start,
                                        long end, long step, unsigned flags);
gomp_parallel_loop_start GOMP_parallel_loop_static_start, GOMP_parallel_loop_dynamic_start,
    GOMP_parallel_loop_guided_start;
void GOMP_parallel_loop_runtime_start(gomp_body *body, void *data, unsigned threads, long start,
                                      long end, long step);
gomp_parallel_loop GOMP_parallel_loop_static, GOMP_parallel_loop_dynamic, GOMP_parallel_loop_guided,
    GOMP_parallel_loop_nonmonotonic_dynamic, GOMP_parallel_loop_nonmonotonic_guided;
gomp_parallel_loop_runtime GOMP_parallel_loop_runtime, GOMP_parallel_loop_nonmonotonic_runtime,
    GOMP_parallel_loop_maybe_nonmonotonic_runtime;

/* loops over unsigned long long; `up`: the step is positive */
typedef bool gomp_ull_start(bool up, gomp_ull start, gomp_ull end, gomp_ull step, gomp_ull chunk,
                            gomp_ull *first, gomp_ull *last);
typedef bool gomp_ull_runtime_start(bool up, gomp_ull start, gomp_ull end, gomp_ull step,
                                    gomp_ull *first, gomp_ull *last);
typedef bool gomp_ull_next(gomp_ull *first, gomp_ull *last);
typedef bool gomp_ull_start_reductions(bool up, gomp_ull start, gomp_ull end, gomp_ull step,
                                       long schedule, gomp_ull chunk, gomp_ull *first,
                                       gomp_ull *last, uintptr_t *reductions, void **memory);
typedef bool gomp_ull_doacross_start(unsigned loops, gomp_ull *counts, gomp_ull chunk,
                                     gomp_ull *first, gomp_ull *last);
gomp_ull_start GOMP_loop_ull_static_start, GOMP_loop_ull_dynamic_start, GOMP_loop_ull_guided_start,
    GOMP_loop_ull_nonmonotonic_dynamic_start, GOMP_loop_ull_nonmonotonic_guided_start,
    GOMP_loop_ull_ordered_static_start, GOMP_loop_ull_ordered_dynamic_start,
    GOMP_loop_ull_ordered_guided_start;
gomp_ull_runtime_start GOMP_loop_ull_runtime_start, GOMP_loop_ull_nonmonotonic_runtime_start,
    GOMP_loop_ull_maybe_nonmonotonic_runtime_start, GOMP_loop_ull_ordered_runtime_start;
gomp_ull_start_reductions GOMP_loop_ull_start, GOMP_loop_ull_ordered_start;
gomp_ull_next GOMP_loop_ull_static_next, GOMP_loop_ull_dynamic_next, GOMP_loop_ull_guided_next,
    GOMP_loop_ull_runtime_next, GOMP_loop_ull_nonmonotonic_dynamic_next,
    GOMP_loop_ull_nonmonotonic_guided_next, GOMP_loop_ull_nonmonotonic_runtime_next,
    GOMP_loop_ull_maybe_nonmonotonic_runtime_next, GOMP_loop_ull_ordered_static_next,
    GOMP_loop_ull_ordered_dynamic_next, GOMP_loop_ull_ordered_guided_next,
    GOMP_loop_ull_ordered_runtime_next;
gomp_ull_doacross_start GOMP_loop_ull_doacross_static_start, GOMP_loop_ull_doacross_dynamic_start,
    GOMP_loop_ull_doacross_guided_start;
bool GOMP_loop_ull_doacross_runtime_start(unsigned loops, gomp_ull *counts, gomp_ull *first,
                                          gomp_ull *last);
bool GOMP_loop_ull_doacross_start(unsigned loops, gomp_ull *counts, long schedule, gomp_ull chunk,
                                  gomp_ull *first, gomp_ull *last, uintptr_t *reductions,
                                  void **memory);

/* ordered; the wait calls take one count for each loop of the nest */
void GOMP_ordered_start(void);
void GOMP_ordered_end(void);
void GOMP_doacross_post(long *counts);
void GOMP_doacross_wait(long first, ...);
void GOMP_doacross_ull_post(gomp_ull *counts);
void GOMP_doacross_ull_wait(gomp_ull first, ...);

/* sections, single, scope */
unsigned GOMP_sections_start(unsigned count);
unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory);
unsigned GOMP_sections_next(void);
void GOMP_parallel_sections_start(gomp_body *body, void *data, unsigned threads, unsigned count);
void GOMP_parallel_sections(gomp_body *body, void *data, unsigned threads, unsigned count,
                            unsigned flags);
void GOMP_sections_end(void);
void GOMP_sections_end_nowait(void);
bool GOMP_sections_end_cancel(void);
bool GOMP_single_start(void);
void *GOMP_single_copy_start(void);
void GOMP_single_copy_end(void *data);
void GOMP_scope_start(uintptr_t *reductions);

/* tasks */
void GOMP_task(gomp_body *body, void *data, gomp_copy *copy, long size, long alignment, bool wanted,
               unsigned flags, void **depend, int priority, void *detach);
void GOMP_taskloop(gomp_body *body, void *data, gomp_copy *copy, long size, long alignment,
                   unsigned flags, unsigned long tasks, int priority, long start, long end,
                   long step);
void GOMP_taskloop_ull(gomp_body *body, void *data, gomp_copy *copy, long size, long alignment,
                       unsigned flags, unsigned long tasks, int priority, gomp_ull start,
                       gomp_ull end, gomp_ull step);
void GOMP_taskwait(void);
void GOMP_taskwait_depend(void **depend);
void GOMP_taskwait_depend_nowait(void **depend);
void GOMP_taskyield(void);
void GOMP_taskgroup_start(void);
void GOMP_taskgroup_end(void);
void GOMP_taskgroup_reduction_register(uintptr_t *data);
void GOMP_taskgroup_reduction_unregister(uintptr_t *data);
void GOMP_task_reduction_remap(size_t count, size_t originals, void **addresses);
void GOMP_workshare_task_reduction_unregister(bool cancelled);

/* target; the calls without _ext are GCC 4.9's */
void GOMP_target(int device, gomp_body *body, const void *unused, size_t count, void **addresses,
                 size_t *sizes, unsigned char *kinds);
void GOMP_target_ext(int device, gomp_body *body, size_t count, void **addresses, size_t *sizes,
                     unsigned short *kinds, unsigned flags, void **depend, void **arguments);
void GOMP_target_data(int device, const void *unused, size_t count, void **addresses, size_t *sizes,
                      unsigned char *kinds);
void GOMP_target_data_ext(int device, size_t count, void **addresses, size_t *sizes,
                          unsigned short *kinds);
void GOMP_target_end_data(void);
void GOMP_target_update(int device, const void *unused, size_t count, void **addresses,
                        size_t *sizes, unsigned char *kinds);
void GOMP_target_update_ext(int device, size_t count, void **addresses, size_t *sizes,
                            unsigned short *kinds, unsigned flags, void **depend);
void GOMP_target_enter_exit_data(int device, size_t count, void **addresses, size_t *sizes,
                                 unsigned short *kinds, unsigned flags, void **depend);
void *GOMP_target_map_indirect_ptr(void *pointer);
void GOMP_offload_register(const void *host_table, int type, const void *image);
void GOMP_offload_register_ver(unsigned version, const void *host_table, int type,
                               const void *image);
void GOMP_offload_unregister(const void *host_table, int type, const void *image);
void GOMP_offload_unregister_ver(unsigned version, const void *host_table, int type,
                                 const void *image);
struct gomp_interop;
void GOMP_interop(int device, int inits, struct gomp_interop ***init, const int *targetsync,
                  const char **prefer, int uses, struct gomp_interop **use, int destroys,
                  struct gomp_interop ***destroy, unsigned flags, void **depend);

/* memory, errors */
void *GOMP_alloc(size_t alignment, size_t size, uintptr_t allocator);
void GOMP_free(void *memory, uintptr_t allocator);
void GOMP_add_alloc(void *memory);
bool GOMP_is_alloc(void *memory);
void GOMP_warning(const char *message, size_t length);
void GOMP_error(const char *message, size_t length);

#pragma GCC visibility pop

#endif
