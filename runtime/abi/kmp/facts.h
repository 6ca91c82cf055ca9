/* Facts of LLVM's and Intel's OpenMP ABI: the arguments and the calls of code that clang, flang or
 * Intel's compilers made.
 *
 * Sizes, flag values and prototypes as clang 5 to 22 emit them. Here are names and numbers only:
 * abi/kmp decodes the calls, and core executes them. */
#ifndef CST_ABI_KMP_FACTS_H
#define CST_ABI_KMP_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- objects in the program's memory ---------------------------------------------------- */

/* A position in the source. */
struct kmp_ident {
    int32_t reserved1, flags, reserved2, reserved3;
    const char *source; /* ";file;function;line;column;;" */
};
enum { KMP_BIND_PRIMARY = 5 };           /* LLVM's number of proc_bind(primary) */
enum { KMP_IDENT_ATOMIC_REDUCE = 0x10 }; /* flags: a reduction has code with atomics */

typedef struct kmp_ident kmp_loc;
typedef int32_t kmp_name[8]; /* of a critical region; zero at first */

enum {
    KMP_LOCK_SIZE = sizeof(void *), /* omp_lock_t and omp_nest_lock_t in clang's omp.h */
};

union kmp_task_word {
    int32_t (*destructors)(int32_t thread, void *task);
    int32_t priority;
};
/* A task. The program's private variables follow, then the data to which `shareds` points. */
struct kmp_task {
    void *shareds;
    int32_t (*routine)(int32_t thread, struct kmp_task *task);
    int32_t part;
    union kmp_task_word data1, data2; /* destructors; priority */
};
typedef int32_t kmp_routine(int32_t thread, struct kmp_task *task);
typedef void kmp_duplicate(struct kmp_task *to, struct kmp_task *from, int32_t last);

/* Flags of __kmpc_omp_task_alloc. */
enum {
    KMP_TASK_TIED = 1 << 0,
    KMP_TASK_FINAL = 1 << 1,
    KMP_TASK_MERGED = 1 << 2,
    KMP_TASK_DESTRUCTORS = 1 << 3,
    KMP_TASK_PROXY = 1 << 4, /* a call completes it, as the event does with `detach` */
    KMP_TASK_PRIORITY = 1 << 5,
    KMP_TASK_DETACH = 1 << 6,
};

struct kmp_depend {
    intptr_t address;
    size_t length;
    uint8_t flags;
};
enum {
    KMP_DEPEND_IN = 1,
    KMP_DEPEND_OUT = 2,
    KMP_DEPEND_MUTEXINOUTSET = 4,
    KMP_DEPEND_INOUTSET = 8,
    KMP_DEPEND_ALL = 0x80, /* omp_all_memory; also KMP_DEPEND_ALL_ADDRESS */
    KMP_DEPEND_ALL_ADDRESS = -1,
};

/* A variable that tasks reduce. Clang 5 to 9 use the first form, without the original. */
struct kmp_reduce_old {
    void *shared;
    size_t size;
    void *initialise, *finish, *combine;
    uint32_t flags;
};
struct kmp_reduce {
    void *shared, *original;
    size_t size;
    void *initialise, *finish, *combine;
    uint32_t flags;
};

/* A loop of a doacross nest, both ends included. */
struct kmp_loop {
    int64_t low, high, step;
};

/* A loop of a collapsed nest: it goes from lower + lower_by * X to upper + upper_by * X, where X is
 * the variable of the nest's loop number `outer`. A loop that depends on no other loop has zeros
 * there. */
struct kmp_bounds {
    int32_t type;          /* of bounds and step */
    int32_t variable_type; /* of the variable, which may be narrower */
    int32_t comparison, outer;
    uint64_t lower, lower_by, upper, upper_by;
    int64_t step;
    uint64_t trips;
};
enum {
    KMP_BOUNDS_UINT32 = 4,
    KMP_BOUNDS_INT32 = 5,
    KMP_BOUNDS_UINT64 = 6,
    KMP_BOUNDS_INT64 = 7,
};
/* `comparison`. In the first two, the end belongs to the loop. */
enum {
    KMP_BOUNDS_UP = 0,
    KMP_BOUNDS_DOWN = 1,
    KMP_BOUNDS_NOT_EQUAL = 2,
    KMP_BOUNDS_LESS = 3,
    KMP_BOUNDS_GREATER = 4,
};

/* --- constants in calls ------------------------------------------------------------------ */

/* Schedules. Each has an ordered form, + ORDERED. Both have a form that is not merged, +
 * NOMERGE. */
enum {
    KMP_STATIC_CHUNKED = 33,
    KMP_STATIC = 34,
    KMP_DYNAMIC = 35,
    KMP_GUIDED = 36,
    KMP_RUNTIME = 37,
    KMP_AUTO = 38,
    KMP_TRAPEZOIDAL = 39,
    KMP_STATIC_GREEDY = 40,
    KMP_STATIC_BALANCED = 41,
    KMP_GUIDED_ITERATIVE = 42,
    KMP_GUIDED_ANALYTICAL = 43,
    KMP_STATIC_STEAL = 44,
    KMP_STATIC_BALANCED_CHUNKED = 45,
    KMP_GUIDED_SIMD = 46,
    KMP_RUNTIME_SIMD = 47,
    KMP_ORDERED = 32,
    KMP_DISTRIBUTE_CHUNKED = 91,
    KMP_DISTRIBUTE = 92,
    KMP_NOMERGE = 128,
    KMP_NOMERGE_FIRST = 160,
    KMP_MODIFIERS = 3 << 29, /* monotonic, nonmonotonic */
};

/* The construct that __kmpc_cancel and __kmpc_cancellationpoint name. */
enum {
    KMP_CANCEL_PARALLEL = 1,
    KMP_CANCEL_LOOP = 2,
    KMP_CANCEL_SECTIONS = 3,
    KMP_CANCEL_TASKGROUP = 4,
};

/* The results of __kmpc_reduce, which tell the compiled code how to reduce. */
enum { KMP_REDUCE_NOTHING = 0, KMP_REDUCE_PLAIN = 1, KMP_REDUCE_ATOMIC = 2 };

/* The clause that sets the division of a taskloop. */
enum { KMP_TASKLOOP_DEFAULT = 0, KMP_TASKLOOP_GRAINSIZE = 1, KMP_TASKLOOP_TASKS = 2 };

enum { KMP_SEVERITY_WARNING = 1, KMP_SEVERITY_FATAL = 2 };

/* --- prototypes --------------------------------------------------------------------------- */

typedef void kmp_micro(int32_t *thread, int32_t *number, ...);
typedef void kmp_combine(void *to, void *from);

#pragma GCC visibility push(default)

/* threads and regions (region.c) */
void __kmpc_begin(kmp_loc *loc, int32_t flags);
void __kmpc_end(kmp_loc *loc);
int32_t __kmpc_global_thread_num(kmp_loc *loc);
int32_t __kmpc_global_num_threads(kmp_loc *loc);
int32_t __kmpc_bound_thread_num(kmp_loc *loc);
int32_t __kmpc_bound_num_threads(kmp_loc *loc);
int32_t __kmpc_ok_to_fork(kmp_loc *loc);
int32_t __kmpc_pause_resource(int32_t level);
int32_t __kmpc_in_parallel(kmp_loc *loc);
void __kmpc_push_num_threads(kmp_loc *loc, int32_t thread, int32_t threads);
void __kmpc_push_num_threads_strict(kmp_loc *loc, int32_t thread, int32_t threads, int32_t severity,
                                    const char *message);
void __kmpc_push_num_threads_list(kmp_loc *loc, int32_t thread, uint32_t length,
                                  const int32_t *list);
void __kmpc_push_num_threads_list_strict(kmp_loc *loc, int32_t thread, uint32_t length,
                                         const int32_t *list, int32_t severity,
                                         const char *message);
void __kmpc_pop_num_threads(kmp_loc *loc, int32_t thread);
void __kmpc_push_proc_bind(kmp_loc *loc, int32_t thread, int32_t bind);
void __kmpc_fork_call(kmp_loc *loc, int32_t count, kmp_micro *micro, ...);
void __kmpc_fork_call_if(kmp_loc *loc, int32_t count, kmp_micro *micro, int32_t wanted, void *data);
void __kmpc_serialized_parallel(kmp_loc *loc, int32_t thread);
void __kmpc_end_serialized_parallel(kmp_loc *loc, int32_t thread);
void __kmpc_push_num_teams(kmp_loc *loc, int32_t thread, int32_t teams, int32_t threads);
void __kmpc_push_num_teams_51(kmp_loc *loc, int32_t thread, int32_t least, int32_t most,
                              int32_t threads);
void __kmpc_set_thread_limit(kmp_loc *loc, int32_t thread, int32_t limit);
void __kmpc_fork_teams(kmp_loc *loc, int32_t count, kmp_micro *micro, ...);
int32_t __kmpc_cancel(kmp_loc *loc, int32_t thread, int32_t which);
int32_t __kmpc_cancellationpoint(kmp_loc *loc, int32_t thread, int32_t which);
int32_t __kmpc_cancel_barrier(kmp_loc *loc, int32_t thread);

/* barriers, critical regions, single, masked (sync.c) */
void __kmpc_barrier(kmp_loc *loc, int32_t thread);
int32_t __kmpc_barrier_master(kmp_loc *loc, int32_t thread);
void __kmpc_end_barrier_master(kmp_loc *loc, int32_t thread);
int32_t __kmpc_barrier_master_nowait(kmp_loc *loc, int32_t thread);
int32_t __kmpc_master(kmp_loc *loc, int32_t thread);
void __kmpc_end_master(kmp_loc *loc, int32_t thread);
int32_t __kmpc_masked(kmp_loc *loc, int32_t thread, int32_t filter);
void __kmpc_end_masked(kmp_loc *loc, int32_t thread);
int32_t __kmpc_single(kmp_loc *loc, int32_t thread);
void __kmpc_end_single(kmp_loc *loc, int32_t thread);
void __kmpc_scope(kmp_loc *loc, int32_t thread, void *unused);
void __kmpc_end_scope(kmp_loc *loc, int32_t thread, void *unused);
void __kmpc_copyprivate(kmp_loc *loc, int32_t thread, size_t size, void *data, kmp_combine *copy,
                        int32_t executed);
void *__kmpc_copyprivate_light(kmp_loc *loc, int32_t thread, void *data);
void __kmpc_critical(kmp_loc *loc, int32_t thread, kmp_name *name);
void __kmpc_critical_with_hint(kmp_loc *loc, int32_t thread, kmp_name *name, uint32_t hint);
void __kmpc_end_critical(kmp_loc *loc, int32_t thread, kmp_name *name);
void __kmpc_ordered(kmp_loc *loc, int32_t thread);
void __kmpc_end_ordered(kmp_loc *loc, int32_t thread);
void __kmpc_flush(kmp_loc *loc);
void __kmpc_error(kmp_loc *loc, int32_t severity, const char *message);
int32_t __kmpc_reduce(kmp_loc *loc, int32_t thread, int32_t count, size_t size, void *data,
                      kmp_combine *combine, kmp_name *name);
int32_t __kmpc_reduce_nowait(kmp_loc *loc, int32_t thread, int32_t count, size_t size, void *data,
                             kmp_combine *combine, kmp_name *name);
void __kmpc_end_reduce(kmp_loc *loc, int32_t thread, kmp_name *name);
void __kmpc_end_reduce_nowait(kmp_loc *loc, int32_t thread, kmp_name *name);

/* loops: suffix, type of the bounds, type of the step, signed or not; all bounds are included
 * (loop.c, static.c) */
#define KMP_EACH_TYPE(X)                                                                           \
    X(4, int32_t, int32_t, true)                                                                   \
    X(4u, uint32_t, int32_t, false)                                                                \
    X(8, int64_t, int64_t, true)                                                                   \
    X(8u, uint64_t, int64_t, false)
#define KMP_LOOP_PROTOTYPES(suffix, type, step_type, is_signed)                                    \
    void __kmpc_for_static_init_##suffix(kmp_loc *loc, int32_t thread, int32_t schedule,           \
                                         int32_t *last, type *lower, type *upper,                  \
                                         step_type *stride, step_type step, step_type chunk);      \
    void __kmpc_dist_for_static_init_##suffix(                                                     \
        kmp_loc *loc, int32_t thread, int32_t schedule, int32_t *last, type *lower, type *upper,   \
        type *team_upper, step_type *stride, step_type step, step_type chunk);                     \
    void __kmpc_team_static_init_##suffix(kmp_loc *loc, int32_t thread, int32_t *last,             \
                                          type *lower, type *upper, step_type *stride,             \
                                          step_type step, step_type chunk);                        \
    void __kmpc_dispatch_init_##suffix(kmp_loc *loc, int32_t thread, int32_t schedule, type lower, \
                                       type upper, step_type step, step_type chunk);               \
    void __kmpc_dist_dispatch_init_##suffix(kmp_loc *loc, int32_t thread, int32_t schedule,        \
                                            int32_t *last, type lower, type upper, step_type step, \
                                            step_type chunk);                                      \
    int __kmpc_dispatch_next_##suffix(kmp_loc *loc, int32_t thread, int32_t *last, type *lower,    \
                                      type *upper, step_type *stride);                             \
    void __kmpc_dispatch_fini_##suffix(kmp_loc *loc, int32_t thread);
KMP_EACH_TYPE(KMP_LOOP_PROTOTYPES)
void __kmpc_for_static_fini(kmp_loc *loc, int32_t thread);
void __kmpc_dist_for_static_fini(kmp_loc *loc, int32_t thread);
void __kmpc_dispatch_deinit(kmp_loc *loc, int32_t thread);
void __kmpc_sections_init(kmp_loc *loc, int32_t thread);
int32_t __kmpc_next_section(kmp_loc *loc, int32_t thread, int32_t count);
void __kmpc_end_sections(kmp_loc *loc, int32_t thread);
void __kmpc_doacross_init(kmp_loc *loc, int32_t thread, int32_t count,
                          const struct kmp_loop *loops);
void __kmpc_doacross_post(kmp_loc *loc, int32_t thread, const int64_t *vector);
void __kmpc_doacross_wait(kmp_loc *loc, int32_t thread, const int64_t *vector);
void __kmpc_doacross_fini(kmp_loc *loc, int32_t thread);

/* collapsed nests (collapse.c) */
uint64_t __kmpc_process_loop_nest_rectang(kmp_loc *loc, int32_t thread, struct kmp_bounds *nest,
                                          int32_t depth);
void __kmpc_calc_original_ivs_rectang(kmp_loc *loc, uint64_t number, const struct kmp_bounds *nest,
                                      uint64_t *values, int32_t depth);
int32_t __kmpc_for_collapsed_init(kmp_loc *loc, int32_t thread, struct kmp_bounds *loops,
                                  struct kmp_bounds *chunk, int32_t depth, int32_t *last);

/* tasks (task.c, taskloop.c, taskred.c) */
void __kmpc_proxy_task_completed(int32_t thread, struct kmp_task *task);
void __kmpc_proxy_task_completed_ooo(struct kmp_task *task);
uint64_t __kmpc_get_taskid(void);
uint64_t __kmpc_get_parent_taskid(void);
struct kmp_task *__kmpc_omp_task_alloc(kmp_loc *loc, int32_t thread, int32_t flags, size_t size,
                                       size_t shareds, kmp_routine *routine);
bool __kmpc_omp_has_task_team(int32_t thread);
void **__kmpc_omp_get_target_async_handle_ptr(int32_t thread);
struct kmp_task *__kmpc_omp_target_task_alloc(kmp_loc *loc, int32_t thread, int32_t flags,
                                              size_t size, size_t shareds, kmp_routine *routine,
                                              int64_t device);
int32_t __kmpc_omp_task(kmp_loc *loc, int32_t thread, struct kmp_task *task);
int32_t __kmpc_omp_task_parts(kmp_loc *loc, int32_t thread, struct kmp_task *task);
int32_t __kmpc_omp_task_with_deps(kmp_loc *loc, int32_t thread, struct kmp_task *task,
                                  int32_t count, struct kmp_depend *list, int32_t more,
                                  struct kmp_depend *other);
void __kmpc_omp_task_begin_if0(kmp_loc *loc, int32_t thread, struct kmp_task *task);
void __kmpc_omp_task_complete_if0(kmp_loc *loc, int32_t thread, struct kmp_task *task);
void __kmpc_omp_wait_deps(kmp_loc *loc, int32_t thread, int32_t count, struct kmp_depend *list,
                          int32_t more, struct kmp_depend *other);
void __kmpc_omp_taskwait_deps_51(kmp_loc *loc, int32_t thread, int32_t count,
                                 struct kmp_depend *list, int32_t more, struct kmp_depend *other,
                                 int32_t nowait);
int32_t __kmpc_omp_taskwait(kmp_loc *loc, int32_t thread);
int32_t __kmpc_omp_taskyield(kmp_loc *loc, int32_t thread, int end);
void __kmpc_taskgroup(kmp_loc *loc, int32_t thread);
void __kmpc_end_taskgroup(kmp_loc *loc, int32_t thread);
void *__kmpc_task_allow_completion_event(kmp_loc *loc, int32_t thread, struct kmp_task *task);
int32_t __kmpc_omp_reg_task_with_affinity(kmp_loc *loc, int32_t thread, struct kmp_task *task,
                                          int32_t count, void *list);
void __kmpc_taskloop(kmp_loc *loc, int32_t thread, struct kmp_task *task, int32_t wanted,
                     uint64_t *lower, uint64_t *upper, int64_t step, int32_t nogroup,
                     int32_t schedule, uint64_t grain, void *duplicate);
void __kmpc_taskloop_5(kmp_loc *loc, int32_t thread, struct kmp_task *task, int32_t wanted,
                       uint64_t *lower, uint64_t *upper, int64_t step, int32_t nogroup,
                       int32_t schedule, uint64_t grain, int32_t strict, void *duplicate);
void *__kmpc_task_reduction_init(int32_t thread, int32_t count, void *list);
void *__kmpc_taskred_init(int32_t thread, int32_t count, void *list);
void *__kmpc_task_reduction_modifier_init(kmp_loc *loc, int32_t thread, int32_t is_loop,
                                          int32_t count, void *list);
void *__kmpc_taskred_modifier_init(kmp_loc *loc, int32_t thread, int32_t is_loop, int32_t count,
                                   void *list);
void __kmpc_task_reduction_modifier_fini(kmp_loc *loc, int32_t thread, int32_t is_loop);
void *__kmpc_task_reduction_get_th_data(int32_t thread, void *group, void *address);

/* threadprivate variables (threadprivate.c) */
typedef void *kmp_construct(void *object);
typedef void *kmp_construct_copy(void *object, void *from);
typedef void kmp_destroy(void *object);
void *__kmpc_threadprivate(kmp_loc *loc, int32_t thread, void *data, size_t size);
void *__kmpc_threadprivate_cached(kmp_loc *loc, int32_t thread, void *data, size_t size,
                                  void ***cache);
void __kmpc_threadprivate_register(kmp_loc *loc, void *data, kmp_construct *construct,
                                   kmp_construct_copy *copy, kmp_destroy *destroy);
void __kmpc_threadprivate_register_vec(kmp_loc *loc, void *data, void *construct, void *copy,
                                       void *destroy, size_t length);

/* locks (lock.c) */
void __kmpc_init_lock(kmp_loc *loc, int32_t thread, void **lock);
void __kmpc_init_lock_with_hint(kmp_loc *loc, int32_t thread, void **lock, uintptr_t hint);
void __kmpc_destroy_lock(kmp_loc *loc, int32_t thread, void **lock);
void __kmpc_set_lock(kmp_loc *loc, int32_t thread, void **lock);
void __kmpc_unset_lock(kmp_loc *loc, int32_t thread, void **lock);
int32_t __kmpc_test_lock(kmp_loc *loc, int32_t thread, void **lock);
void __kmpc_init_nest_lock(kmp_loc *loc, int32_t thread, void **lock);
void __kmpc_init_nest_lock_with_hint(kmp_loc *loc, int32_t thread, void **lock, uintptr_t hint);
void __kmpc_destroy_nest_lock(kmp_loc *loc, int32_t thread, void **lock);
void __kmpc_set_nest_lock(kmp_loc *loc, int32_t thread, void **lock);
void __kmpc_unset_nest_lock(kmp_loc *loc, int32_t thread, void **lock);
int32_t __kmpc_test_nest_lock(kmp_loc *loc, int32_t thread, void **lock);

/* settings (settings.c) */
int __kmpc_get_target_offload(void);

/* memory (alloc.c) */
uintptr_t __kmpc_init_allocator(int32_t thread, uintptr_t space, int32_t count, const void *traits);
void __kmpc_destroy_allocator(int32_t thread, uintptr_t allocator);
void __kmpc_set_default_allocator(int32_t thread, uintptr_t allocator);
uintptr_t __kmpc_get_default_allocator(int32_t thread);
void *__kmpc_alloc(int32_t thread, size_t size, uintptr_t allocator);
void *__kmpc_aligned_alloc(int32_t thread, size_t alignment, size_t size, uintptr_t allocator);
void *__kmpc_calloc(int32_t thread, size_t count, size_t size, uintptr_t allocator);
void *__kmpc_realloc(int32_t thread, void *memory, size_t size, uintptr_t allocator,
                     uintptr_t free_allocator);
void __kmpc_free(int32_t thread, void *memory, uintptr_t allocator);

#pragma GCC visibility pop

#endif
