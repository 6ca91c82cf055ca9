/* The parts of Capstan's archive that a Haskell program always links, used or not. They are the
 * files of the ABI, each by the name that CST_WHOLE gives it, and our public calls, some of which
 * lie in other files. The linker is told to look for cst_whole_files (-u, in capstan.cabal), and so
 * finds all of them.
 *
 * The shared libraries are linked from objects, so they do not need this file. */
#ifndef CST_SHARED_LIBRARY

#include "abi/whole.h"

#include "capstan.h"

/* clang-format off */
#define FILES \
    /* -- begin files (tools/cabal-lists --write) */ \
    FILE(capstan_adopt) \
    FILE(capstan_callback) \
    FILE(capstan_event) \
    FILE(capstan_settings) \
    FILE(capstan_words) \
    FILE(gomp_depend) \
    FILE(gomp_loop) \
    FILE(gomp_loop_ull) \
    FILE(gomp_reduce) \
    FILE(gomp_region) \
    FILE(gomp_share) \
    FILE(gomp_sync) \
    FILE(gomp_target) \
    FILE(gomp_task) \
    FILE(kmp_alloc) \
    FILE(kmp_api) \
    FILE(kmp_atomic) \
    FILE(kmp_collapse) \
    FILE(kmp_handles) \
    FILE(kmp_lock) \
    FILE(kmp_loop) \
    FILE(kmp_omp) \
    FILE(kmp_region) \
    FILE(kmp_settings) \
    FILE(kmp_static) \
    FILE(kmp_sync) \
    FILE(kmp_task) \
    FILE(kmp_taskloop) \
    FILE(kmp_taskred) \
    FILE(kmp_threadprivate) \
    FILE(omp_alloc) \
    FILE(omp_api) \
    FILE(omp_device) \
    FILE(omp_fortran) \
    FILE(omp_interop) \
    FILE(omp_lock) \
    FILE(omp_place) \
    FILE(tcm) \
    /* -- end files */

#define CALLS \
    /* -- begin calls (tools/cabal-lists --write) */ \
    CALL(capstan_adopt) \
    CALL(capstan_await_fd) \
    CALL(capstan_await_timer) \
    CALL(capstan_clock) \
    CALL(capstan_fd_change) \
    CALL(capstan_fd_close) \
    CALL(capstan_fd_closed) \
    CALL(capstan_fd_register) \
    CALL(capstan_fd_unregister) \
    CALL(capstan_fd_unregister_all) \
    CALL(capstan_forks) \
    CALL(capstan_loop) \
    CALL(capstan_manager_back_end) \
    CALL(capstan_manager_default) \
    CALL(capstan_manager_free) \
    CALL(capstan_manager_new) \
    CALL(capstan_manager_statistics) \
    CALL(capstan_post) \
    CALL(capstan_pull) \
    CALL(capstan_quiesce) \
    CALL(capstan_shutdown) \
    CALL(capstan_step) \
    CALL(capstan_timer_cancel) \
    CALL(capstan_timer_reschedule) \
    CALL(capstan_timer_start) \
    CALL(capstan_timer_start_at) \
    /* -- end calls */

/* clang-format on */

#define FILE(name) extern const char cst_whole_##name;
FILES
#undef FILE

#define FILE(name) &cst_whole_##name,
#define CALL(name) (const void *)(name),
__attribute__((used)) const void *const cst_whole_files[] = {FILES CALLS};

#endif
