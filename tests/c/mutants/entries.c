/* Entry points with one fault each: the program preloads one in front of a libgomp, and it errs
 * like a careless runtime. (Entry points that do nothing at all need no source: check-mutants makes
 * them.)
 *
 * One variant is compiled at a time, by -DMUTANT_name. `mutant: name test...` says which tests of
 * tests/c have to fail; with several, one of them is enough. The real entry point is `next`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

typedef void function(void *);
typedef unsigned long long ull;

/* Declares the variable `next`, the real entry point of that name and type. */
#define REAL(type, name, ...)                                                                      \
    static type (*next)(__VA_ARGS__);                                                              \
    if (!next) next = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

/* --- regions --------------------------------------------------------------------------------- */

/* mutant: parallel_serial construct/parallel.c */
#ifdef MUTANT_parallel_serial
void GOMP_parallel(function *run, void *data, unsigned threads, unsigned flags) {
    REAL(void, "GOMP_parallel", function *, void *, unsigned, unsigned);
    (void)threads;
    next(run, data, 1, flags);
}
#endif

/* mutant: parallel_one_too_many construct/parallel.c */
#ifdef MUTANT_parallel_one_too_many
void GOMP_parallel(function *run, void *data, unsigned threads, unsigned flags) {
    REAL(void, "GOMP_parallel", function *, void *, unsigned, unsigned);
    next(run, data, threads > 1 ? threads + 1 : threads, flags);
}
#endif

/* mutant: parallel_ignores_num_threads construct/parallel.c */
#ifdef MUTANT_parallel_ignores_num_threads
void GOMP_parallel(function *run, void *data, unsigned threads, unsigned flags) {
    REAL(void, "GOMP_parallel", function *, void *, unsigned, unsigned);
    next(run, data, threads == 1, flags);
}
#endif

/* The if clause asks for one thread, and the region gets many. */
/* mutant: parallel_ignores_if construct/parallel.c */
#ifdef MUTANT_parallel_ignores_if
void GOMP_parallel(function *run, void *data, unsigned threads, unsigned flags) {
    REAL(void, "GOMP_parallel", function *, void *, unsigned, unsigned);
    next(run, data, threads == 1 ? 2 : threads, flags);
}
#endif

/* --- mutual exclusion ------------------------------------------------------------------------ */

/* Different names exclude each other. */
/* mutant: critical_one_lock construct/critical.c */
#ifdef MUTANT_critical_one_lock
void GOMP_critical_name_start(void **name) {
    REAL(void, "GOMP_critical_start", void);
    (void)name;
    next();
}

void GOMP_critical_name_end(void **name) {
    REAL(void, "GOMP_critical_end", void);
    (void)name;
    next();
}
#endif

/* mutant: critical_end_nothing construct/critical.c */
#ifdef MUTANT_critical_end_nothing
void GOMP_critical_end(void) {}
#endif

/* mutant: test_lock_always construct/lock.c */
#ifdef MUTANT_test_lock_always
int omp_test_lock(void *lock) {
    (void)lock;
    return 1;
}
#endif

/* mutant: test_lock_never construct/lock.c */
#ifdef MUTANT_test_lock_never
int omp_test_lock(void *lock) {
    (void)lock;
    return 0;
}
#endif

/* A nest lock that a task can set only once. */
/* mutant: nest_lock_simple construct/nest_lock.c */
#ifdef MUTANT_nest_lock_simple
int omp_test_nest_lock(void *lock) {
    REAL(int, "omp_test_nest_lock", void *);
    int found = next(lock);
    return found > 1 ? 1 : found;
}
#endif

/* --- worksharing ----------------------------------------------------------------------------- */

/* mutant: single_everyone construct/single.c */
#ifdef MUTANT_single_everyone
bool GOMP_single_start(void) {
    REAL(bool, "GOMP_single_start", void);
    next();
    return true;
}
#endif

/* mutant: loop_end_nowait construct/barrier.c */
#ifdef MUTANT_loop_end_nowait
void GOMP_loop_end(void) {
    REAL(void, "GOMP_loop_end_nowait", void);
    next();
}
#endif

/* mutant: sections_end_nowait construct/barrier.c construct/sections.c */
#ifdef MUTANT_sections_end_nowait
void GOMP_sections_end(void) {
    REAL(void, "GOMP_sections_end_nowait", void);
    next();
}
#endif

/* mutant: dynamic_is_static construct/loop_share.c */
#ifdef MUTANT_dynamic_is_static
bool GOMP_loop_nonmonotonic_dynamic_start(long from, long to, long step, long chunk, long *first,
                                          long *last) {
    REAL(bool, "GOMP_loop_static_start", long, long, long, long, long *, long *);
    return next(from, to, step, chunk, first, last);
}

bool GOMP_loop_nonmonotonic_dynamic_next(long *first, long *last) {
    REAL(bool, "GOMP_loop_static_next", long *, long *);
    return next(first, last);
}

void GOMP_parallel_loop_nonmonotonic_dynamic(function *run, void *data, unsigned threads, long from,
                                             long to, long step, long chunk, unsigned flags) {
    REAL(void, "GOMP_parallel_loop_static", function *, void *, unsigned, long, long, long, long,
         unsigned);
    next(run, data, threads, from, to, step, chunk, flags);
}
#endif

/* mutant: guided_is_static construct/loop_share.c */
#ifdef MUTANT_guided_is_static
bool GOMP_loop_nonmonotonic_guided_start(long from, long to, long step, long chunk, long *first,
                                         long *last) {
    REAL(bool, "GOMP_loop_static_start", long, long, long, long, long *, long *);
    return next(from, to, step, chunk, first, last);
}

bool GOMP_loop_nonmonotonic_guided_next(long *first, long *last) {
    REAL(bool, "GOMP_loop_static_next", long *, long *);
    return next(first, last);
}

void GOMP_parallel_loop_nonmonotonic_guided(function *run, void *data, unsigned threads, long from,
                                            long to, long step, long chunk, unsigned flags) {
    REAL(void, "GOMP_parallel_loop_static", function *, void *, unsigned, long, long, long, long,
         unsigned);
    next(run, data, threads, from, to, step, chunk > 1 ? chunk : 0, flags);
}
#endif

/* mutant: dynamic_ignores_chunk construct/loop_share.c */
#ifdef MUTANT_dynamic_ignores_chunk
bool GOMP_loop_nonmonotonic_dynamic_start(long from, long to, long step, long chunk, long *first,
                                          long *last) {
    REAL(bool, "GOMP_loop_nonmonotonic_dynamic_start", long, long, long, long, long *, long *);
    (void)chunk;
    return next(from, to, step, 1, first, last);
}
#endif

/* mutant: guided_ignores_chunk construct/loop_share.c */
#ifdef MUTANT_guided_ignores_chunk
void GOMP_parallel_loop_nonmonotonic_guided(function *run, void *data, unsigned threads, long from,
                                            long to, long step, long chunk, unsigned flags) {
    REAL(void, "GOMP_parallel_loop_nonmonotonic_guided", function *, void *, unsigned, long, long,
         long, long, unsigned);
    (void)chunk;
    next(run, data, threads, from, to, step, 1, flags);
}
#endif

/* The last iteration is lost. */
/* mutant: ull_loses_last construct/loop_cover.c */
#ifdef MUTANT_ull_loses_last
bool GOMP_loop_ull_nonmonotonic_dynamic_start(bool up, ull from, ull to, ull step, ull chunk,
                                              ull *first, ull *last) {
    REAL(bool, "GOMP_loop_ull_nonmonotonic_dynamic_start", bool, ull, ull, ull, ull, ull *, ull *);
    return next(up, from, to - (to != from ? step : 0), step, chunk, first, last);
}
#endif

/* Unsigned loops are run as if their values were signed. */
/* mutant: ull_is_signed construct/loop_cover.c */
#ifdef MUTANT_ull_is_signed
bool GOMP_loop_ull_nonmonotonic_guided_start(bool up, ull from, ull to, ull step, ull chunk,
                                             ull *first, ull *last) {
    REAL(bool, "GOMP_loop_nonmonotonic_guided_start", long, long, long, long, long *, long *);
    (void)up;
    return next((long)from, (long)to, (long)step, (long)chunk, (long *)first, (long *)last);
}

bool GOMP_loop_ull_nonmonotonic_guided_next(ull *first, ull *last) {
    REAL(bool, "GOMP_loop_nonmonotonic_guided_next", long *, long *);
    return next((long *)first, (long *)last);
}
#endif

/* --- tasks ----------------------------------------------------------------------------------- */

enum {
    UNTIED = 1,
    FINAL = 2,
    MERGEABLE = 4,
    DEPEND = 8,
    PRIORITY = 16,
    UP = 256,
    GRAINSIZE = 512,
    IF = 1024,
    NOGROUP = 2048,
    REDUCTION = 4096,
    DETACH = 8192,
    STRICT = 16384
};

#define TASK_ARGUMENTS                                                                             \
    function *run, void *data, void (*copy)(void *, void *), long size, long align, bool defer,    \
        unsigned flags, void **depend, int priority, void *detach
#define REAL_TASK                                                                                  \
    REAL(void, "GOMP_task", function *, void *, void (*)(void *, void *), long, long, bool,        \
         unsigned, void **, int, void *)

/* mutant: task_ignores_depend construct/depend.c construct/depend_random.c */
#ifdef MUTANT_task_ignores_depend
void GOMP_task(TASK_ARGUMENTS) {
    REAL_TASK;
    next(run, data, copy, size, align, defer, flags & ~(unsigned)DEPEND, depend, priority, detach);
}
#endif

/* mutant: task_ignores_if construct/task_clauses.c */
#ifdef MUTANT_task_ignores_if
void GOMP_task(TASK_ARGUMENTS) {
    REAL_TASK;
    (void)defer;
    next(run, data, copy, size, align, true, flags, depend, priority, detach);
}
#endif

/* mutant: task_ignores_final construct/task_clauses.c */
#ifdef MUTANT_task_ignores_final
void GOMP_task(TASK_ARGUMENTS) {
    REAL_TASK;
    next(run, data, copy, size, align, defer, flags & ~(unsigned)FINAL, depend, priority, detach);
}
#endif

/* mutant: task_ignores_priority construct/task_priority.c */
#ifdef MUTANT_task_ignores_priority
void GOMP_task(TASK_ARGUMENTS) {
    REAL_TASK;
    priority = 0;
    next(run, data, copy, size, align, defer, flags & ~(unsigned)PRIORITY, depend, priority,
         detach);
}
#endif

/* The event completes nothing: the task is complete when it has run. */
/* mutant: task_ignores_detach construct/detach.c */
#ifdef MUTANT_task_ignores_detach
void GOMP_task(TASK_ARGUMENTS) {
    REAL_TASK;
    if (flags & DETACH) *(void **)detach = NULL;
    next(run, data, copy, size, align, defer, flags & ~(unsigned)DETACH, depend, priority, NULL);
}

void omp_fulfill_event(unsigned long event) {
    (void)event;
}
#endif

/* Variables are copied bit by bit, without the constructors. */
/* mutant: task_copies_bits construct/cxx_objects.cc */
#ifdef MUTANT_task_copies_bits
void GOMP_task(TASK_ARGUMENTS) {
    REAL_TASK;
    (void)copy;
    next(run, data, NULL, size, align, defer, flags, depend, priority, detach);
}
#endif

#define TASKLOOP_ARGUMENTS                                                                         \
    function *run, void *data, void (*copy)(void *, void *), long size, long align,                \
        unsigned flags, unsigned long tasks, int priority, long from, long to, long step
#define REAL_TASKLOOP                                                                              \
    REAL(void, "GOMP_taskloop", function *, void *, void (*)(void *, void *), long, long,          \
         unsigned, unsigned long, int, long, long, long)

/* mutant: taskloop_nogroup construct/taskloop.c */
#ifdef MUTANT_taskloop_nogroup
void GOMP_taskloop(TASKLOOP_ARGUMENTS) {
    REAL_TASKLOOP;
    next(run, data, copy, size, align, flags & REDUCTION ? flags : flags | NOGROUP, tasks, priority,
         from, to, step);
}
#endif

/* mutant: taskloop_one_task construct/taskloop.c */
#ifdef MUTANT_taskloop_one_task
void GOMP_taskloop(TASKLOOP_ARGUMENTS) {
    REAL_TASKLOOP;
    (void)tasks;
    next(run, data, copy, size, align, flags & ~(unsigned)(GRAINSIZE | STRICT), 1, priority, from,
         to, step);
}
#endif

/* mutant: taskloop_not_strict construct/taskloop.c */
#ifdef MUTANT_taskloop_not_strict
void GOMP_taskloop(TASKLOOP_ARGUMENTS) {
    REAL_TASKLOOP;
    next(run, data, copy, size, align, flags & ~(unsigned)STRICT, tasks, priority, from, to, step);
}
#endif

/* mutant: taskloop_no_reduction construct/taskloop.c construct/task_reduction.c */
#ifdef MUTANT_taskloop_no_reduction
void GOMP_task_reduction_remap(size_t count, size_t original, void **addresses) {
    (void)count;
    (void)original;
    (void)addresses;
}
#endif

/* --- cancellation ---------------------------------------------------------------------------- */

/* A barrier that cannot be cancelled. */
/* mutant: barrier_not_cancelled construct/cancel.c */
#ifdef MUTANT_barrier_not_cancelled
bool GOMP_barrier_cancel(void) {
    REAL(void, "GOMP_barrier", void);
    next();
    return false;
}
#endif

/* cancel ends the whole region instead of a group, a loop or sections. */
/* mutant: cancel_everything construct/cancel.c */
#ifdef MUTANT_cancel_everything
bool GOMP_cancel(int which, bool really) {
    REAL(bool, "GOMP_cancel", int, bool);
    (void)which;
    return next(1, really);
}
#endif

/* mutant: cancel_ignores_if construct/cancel.c */
#ifdef MUTANT_cancel_ignores_if
bool GOMP_cancel(int which, bool really) {
    REAL(bool, "GOMP_cancel", int, bool);
    (void)really;
    return next(which, true);
}
#endif

/* --- control variables ----------------------------------------------------------------------- */

/* mutant: levels_not_limited construct/nested.c */
#ifdef MUTANT_levels_not_limited
void omp_set_max_active_levels(int levels) {
    REAL(void, "omp_set_max_active_levels", int);
    next(levels < 1 ? levels : 100);
}
#endif

/* mutant: schedule_ignores_chunk construct/loop_share.c construct/icv.c */
#ifdef MUTANT_schedule_ignores_chunk
void omp_set_schedule(unsigned kind, int chunk) {
    REAL(void, "omp_set_schedule", unsigned, int);
    (void)chunk;
    next(kind, 0);
}
#endif
