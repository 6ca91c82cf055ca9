/* The number of processors, checked from time to time; see processors.h. */
#include "core/budget/processors.h"

#include "core/settings/config.h"
#include "platform/atomic.h"
#include "platform/platform.h"

enum { LOOK_NS = 100000000 };

/* Hints. Any thread that checks writes them, and a reader may get the value before the last. */
static struct {
    _Atomic uint64_t looked; /* time of the last check, by the coarse clock; 0: none yet */
    _Atomic uint32_t count, quota, affinity;
} processors;

static uint32_t least(uint32_t affinity, uint32_t quota) {
    return quota && quota < affinity ? quota : affinity;
}

/* The mask is that of the first thread, in a program that binds none of its threads. It counts only
 * when it has changed: the number at the start came from libc, whose answer a program may
 * replace. */
static void look(uint64_t since) {
    if (since == 0) {
        cst_store_relaxed(&processors.affinity, cst_cpu_process_count());
        cst_store_relaxed(&processors.quota, cst_config.quota);
        cst_store_relaxed(&processors.count, cst_config.available);
        return;
    }
    if (cst_config.icv.bind != 0 || cst_confined_now()) return;
    uint32_t affinity = cst_cpu_process_count(), quota = cst_cpu_quota();
    if (affinity == cst_load_relaxed(&processors.affinity) &&
        quota == cst_load_relaxed(&processors.quota))
        return;
    cst_store_relaxed(&processors.affinity, affinity);
    cst_store_relaxed(&processors.quota, quota);
    cst_store_relaxed(&processors.count, least(affinity, quota));
}

static void look_again(void) {
    uint64_t now = cst_clock_coarse_ns(), looked = cst_load_relaxed(&processors.looked);
    if (looked != 0 && now - looked < LOOK_NS) return;
    if (cst_cas_acq_rel(&processors.looked, &looked, now)) look(looked);
}

uint32_t cst_processors(void) {
    look_again();
    uint32_t count = cst_load_relaxed(&processors.count);
    return count ? count : cst_config.available; /* the first check is under way */
}

uint32_t cst_processors_quota(void) {
    look_again();
    return cst_load_relaxed(&processors.count) ? cst_load_relaxed(&processors.quota)
                                               : cst_config.quota;
}
