/* Yields that give slices away; see yields.h. */
#include "core/wait/yields.h"

#include "core/wait/policy.h"

/* The time of any thread's last trial in vain. Each trial costs its team a slice, and another
 * thread's would fail as well. */
static _Atomic uint64_t tried;

bool cst_yields_took(struct cst_yields *yields, uint64_t begin, uint64_t end) {
    if (end - begin < CST_YIELD_LONG_NS) return false;
    if (!cst_heuristic_is_on(CST_HEURISTIC_COSTS)) return false;
    bool was_away = (begin - yields->last_long) < (end - begin) / 4;
    yields->last_long = end;
    if (!was_away) {
        yields->long_ones = 1;
        cst_backoff_forget(&yields->sleep);
        return false;
    }
    if (++yields->long_ones < CST_YIELD_LONG_TIMES) return false;
    cst_backoff_begin(&yields->sleep, end, CST_YIELD_FIRST_NS, CST_YIELD_LONGEST_NS, true);
    yields->sleeps = true;
    cst_store_relaxed(&tried, end);
    return true;
}

bool cst_yields_cost(struct cst_yields *yields, uint64_t now) {
    if (!yields->sleeps) return false;
    if (cst_backoff_lasts(&yields->sleep, now)) return true;
    uint64_t length = cst_backoff_length(&yields->sleep);
    if (now - cst_load_relaxed(&tried) < length / 2) {
        cst_store_relaxed(&yields->sleep.until, now + length);
        return true;
    }
    yields->sleeps = false;
    yields->last_long = now;
    yields->long_ones = CST_YIELD_LONG_TIMES - 1;
    return false;
}
