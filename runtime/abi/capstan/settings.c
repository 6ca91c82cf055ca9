/* Calls of Capstan.OpenMP beyond those of omp.h: settings as a whole, and counts. */
#ifdef __GLASGOW_HASKELL__ /* only in a Haskell program */
#include "abi/capstan/settings.h"

#include "abi/capstan/callback.h"
#include "abi/whole.h"
#include "core/front.h"

CST_WHOLE(capstan_settings);

_Static_assert(sizeof(struct cst_icv) == CST_SETTINGS_SIZE, "Capstan.OpenMP allocates so much");

void cst_settings_save(struct cst_icv *settings) {
    *settings = *cst_own_icv();
}

void cst_settings_restore(const struct cst_icv *settings) {
    *cst_own_icv() = *settings;
}

int cst_settings_know_format(const char *format) {
    return cst_affinity_check(format);
}

/* The counters belong to their threads. A value that is read while regions run may be a moment
 * old. */
void cst_statistics(struct cst_statistics *statistics) {
    struct cst_totals totals = cst_thread_totals();
    *statistics = (struct cst_statistics){.regions = totals.regions,
                                          .tasks = totals.tasks,
                                          .unsafe_regions = totals.unsafe_regions,
                                          .unsafe_ns = totals.unsafe_ns,
                                          .workers = cst_pool_workers_made(),
                                          .largest_team = cst_pool_largest_team(),
                                          .busy = cst_busy_threads()};
}

#endif
