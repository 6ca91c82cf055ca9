/* What Capstan.OpenMP asks for beyond the calls of omp.h: settings as a whole, and counts. */
#ifdef __GLASGOW_HASKELL__ /* only in a Haskell program */
#include "abi/capstan/settings.h"

#include "abi/capstan/callback.h"
#include "abi/whole.h"
#include "core/settings/affinity.h"
#include "core/team/pool.h"
#include "core/state/thread.h"
#include "core/wait/turn.h"

CST_WHOLE(capstan_settings);

_Static_assert(sizeof(struct cst_icv) == CST_SETTINGS_SIZE, "Capstan.OpenMP allocates so much");

void cst_settings_save(struct cst_icv *settings) {
    *settings = cst_self()->task->icv;
}

void cst_settings_restore(const struct cst_icv *settings) {
    cst_self()->task->icv = *settings;
}

int cst_settings_know_format(const char *format) {
    return cst_affinity_check(format);
}

/* The counters belong to their threads; what is read while regions run may be a moment old. */
static void add(struct cst_thread *thread, void *argument) {
    struct cst_statistics *sum = argument;
    sum->regions += thread->regions;
    sum->tasks += thread->tasks;
    sum->unsafe_regions += thread->unsafe_regions;
    sum->unsafe_ns += thread->unsafe_ns;
}

void cst_statistics(struct cst_statistics *statistics) {
    *statistics = (struct cst_statistics){.workers = cst_pool_workers_made(),
                                          .largest_team = cst_pool_largest_team(),
                                          .busy = cst_turn_busy()};
    cst_thread_each(add, statistics);
}

#endif
