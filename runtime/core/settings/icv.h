/* Internal control variables of a data environment (OpenMP 5.2, section 2.1).
 *
 * Each task has a copy, made from its parent's when the task is made. The struct is small, as the
 * copy is part of the cost of a task. ICVs with device or global scope live in config.h. */
#ifndef CST_CORE_SETTINGS_ICV_H
#define CST_CORE_SETTINGS_ICV_H

#include <stdint.h>

/* omp_sched_t without its monotonic bit. */
enum cst_schedule_kind {
    CST_SCHEDULE_STATIC = 1,
    CST_SCHEDULE_DYNAMIC = 2,
    CST_SCHEDULE_GUIDED = 3,
    CST_SCHEDULE_AUTO = 4,
};

/* dyn-var, and whether a master keeps its team.
 *
 * With dyn-var false, OpenMP promises that threadprivate variables persist from one outermost
 * region of a thread to its next, so a master keeps its team for itself. In a Haskell program many
 * threads are masters for short times, and a team for each of them would exceed the budget of
 * threads. So the default there is LEASED: regions have the size that they ask for, and masters
 * share the teams. */
enum cst_dynamic {
    CST_DYNAMIC_OFF,   /* false: the size is exact, and the master keeps its team */
    CST_DYNAMIC_ON,    /* true: the runtime may choose a smaller size; teams are shared */
    CST_DYNAMIC_LEASED /* false: the size is exact; teams are shared */
};

/* Device numbers of programs (OpenMP 6.1, section 8.1; values are GCC's). */
enum {
    CST_DEVICE_HOST = 0, /* equals the number of devices */
    CST_DEVICE_INITIAL = -1,
    CST_DEVICE_INVALID = -4,
    CST_DEVICE_DEFAULT = -5,
};

struct cst_icv {
    uint32_t nthreads;           /* nthreads-var, at least 1 */
    uint32_t thread_limit;       /* thread-limit-var; UINT32_MAX: none */
    int32_t default_device;      /* default-device-var */
    int32_t run_sched_chunk;     /* run-sched-var: chunk; 0: none given */
    uint64_t default_allocator;  /* def-allocator-var: an omp_allocator_handle_t */
    uint8_t run_sched_kind;      /* run-sched-var: enum cst_schedule_kind */
    uint8_t run_sched_monotonic; /* run-sched-var: it has the monotonic modifier */
    uint8_t dynamic;             /* dyn-var: enum cst_dynamic */
    uint8_t nthreads_explicit;   /* the user has set nthreads-var */
    uint8_t bind;                /* bind-var: an omp_proc_bind_t */
    uint8_t max_active_levels;   /* max-active-levels-var (per data environment since 5.0) */
    uint8_t run_sched_given;     /* the user has set run-sched-var, in some way */
    uint8_t unused[1];
};

_Static_assert(sizeof(struct cst_icv) == 32, "a task copies its ICVs; keep them in half a line");

#endif
