/* Start, fork and end of the runtime in its process. */
#include "core/base/message.h"
#include "core/budget/permit.h"
#include "core/budget/share.h"
#include "core/host/host.h"
#include "core/memory/allocator.h"
#include "core/memory/pinned.h"
#include "core/process/report.h"
#include "core/settings/affinity_format.h"
#include "core/settings/config.h"
#include "core/state/thread.h"
#include "core/team/pool.h"
#include "core/team/threads.h"
#include "core/wait/policy.h"
#include "core/wait/wait.h"
#include "platform/platform.h"

#include <pthread.h>
#include <unistd.h>

const char cst_life_is_linked = 1; /* threads.c says why */

static pid_t process;

/* Takes all locks, so that no other thread is changing the state that the child continues with. */
static void before_fork(void) {
    cst_add_relaxed(&cst_host_forks, 1);
    cst_memory_before_fork();
    cst_pinned_before_fork();
    cst_thread_before_fork();
    cst_permit_before_fork();
}

static void after_fork_in_parent(void) {
    cst_permit_after_fork();
    cst_thread_after_fork();
    cst_pinned_after_fork();
    cst_memory_after_fork();
    cst_sub_acq_rel(&cst_host_forks, 1);
    cst_wait_note_fork();
}

/* The child of a fork has one thread. It releases all that other threads held. Teams and their
 * workers are made anew at its first region. */
static void after_fork_in_child(void) {
    if (process == getpid()) return; /* already done */
    process = getpid();
    cst_host_after_fork_in_child();
    cst_pool_after_fork();
    cst_permit_after_fork();
    cst_thread_after_fork_in_child();
    cst_affinity_after_fork();
    cst_pinned_after_fork_in_child();
    cst_memory_after_fork();
}

/* Runs before constructors without a number, since the constructors of layers above rely on it. */
__attribute__((constructor(60000))) static void start(void) {
    process = getpid();
    cst_host_notice_fork = after_fork_in_child;
    cst_host_init();
    cst_config_read();
    cst_thread_init();
    if (cst_host_is_haskell() && !cst_config.dynamic_given)
        cst_config.icv.dynamic = CST_DYNAMIC_LEASED;
    if (cst_host_is_haskell() && cst_config_state("CAPSTAN_ADOPT") == CST_VARIABLE_ABSENT)
        cst_config.adopt = CST_ADOPT_ALL;
    cst_share_start();
    cst_policy_init();
    cst_process_barrier_prepare();
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    if (cst_config.display_env != CST_DISPLAY_ENV_NO)
        cst_config_display(cst_config.display_env == CST_DISPLAY_ENV_VERBOSE);
    cst_report_start();
}

__attribute__((destructor)) static void end(void) {
    cst_report_write(cst_host_substrate_now(), cst_host_note());
    cst_share_end();
}
