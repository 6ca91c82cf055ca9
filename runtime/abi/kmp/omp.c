/* Calls of omp.h with another meaning for clang's programs than for GCC's. */
#include "abi/omp/both.h"
#include "abi/omp/prototypes.h"
#include "abi/whole.h"
#include "core/front.h"

CST_WHOLE(kmp_omp);

#ifdef CST_SHARED_LIBRARY

/* A schedule that was never set is static, as with libomp. */
static __attribute__((used)) void get_schedule(unsigned *kind, int *chunk) {
    omp_get_schedule(kind, chunk);
    if (cst_known_icv()->run_sched_given) return;
    *kind = OMP_SCHED_STATIC;
    *chunk = 0;
}

static __attribute__((used)) void get_schedule_fortran(int32_t *kind, int32_t *chunk) {
    unsigned found;
    get_schedule(&found, chunk);
    *kind = (int32_t)(found & ~OMP_SCHED_MONOTONIC);
}

/* --- affinity ------------------------------------------------------------------------------ */

static __attribute__((used)) void set_format(const char *format) {
    cst_affinity_speak_as_libomp();
    omp_set_affinity_format(format);
}

static __attribute__((used)) size_t get_format(char *buffer, size_t size) {
    cst_affinity_speak_as_libomp();
    return omp_get_affinity_format(buffer, size);
}

static __attribute__((used)) void display(const char *format) {
    cst_affinity_speak_as_libomp();
    omp_display_affinity(format);
}

static __attribute__((used)) size_t capture(char *buffer, size_t size, const char *format) {
    cst_affinity_speak_as_libomp();
    return omp_capture_affinity(buffer, size, format);
}

#endif

CST_FOR_CLANG(omp_get_schedule, get_schedule);
CST_FOR_CLANG(omp_get_schedule_, get_schedule_fortran);
CST_FOR_CLANG(omp_set_affinity_format, set_format);
CST_FOR_CLANG(omp_get_affinity_format, get_format);
CST_FOR_CLANG(omp_display_affinity, display);
CST_FOR_CLANG(omp_capture_affinity, capture);
CST_FOR_CLANG(ompc_set_affinity_format, set_format);
CST_FOR_CLANG(ompc_get_affinity_format, get_format);
CST_FOR_CLANG(ompc_display_affinity, display);
CST_FOR_CLANG(ompc_capture_affinity, capture);
