/* Yields that give slices away; see yields.h. */
#include "core/wait/yields.h"

#include "platform/atomic.h"

/* When a thread last tried in vain: each try costs its team a slice, and the next one's would fail
 * as well. */
static _Atomic uint64_t tried;

enum {
    LONG_NS = 1000000,     /* members that have nothing to do yield again within microseconds */
    IN_A_ROW = 8,          /* meanwhile the kernel would have moved the thread elsewhere */
    FIRST_NS = 8000000,    /* how long to sleep in place of yields at first, */
    LONGEST_NS = 256000000 /* and at last */
};

bool cst_yields_took(struct cst_yields *yields, uint64_t begin, uint64_t end) {
    if (end - begin < LONG_NS) return false;
    bool was_away = (begin - yields->last_long) < (end - begin) / 4;
    yields->last_long = end;
    if (!was_away) {
        yields->long_ones = 1;
        yields->sleep_ns = 0;
        return false;
    }
    if (++yields->long_ones < IN_A_ROW) return false;
    yields->sleep_ns = yields->sleep_ns ? 2 * yields->sleep_ns : FIRST_NS;
    if (yields->sleep_ns > LONGEST_NS) yields->sleep_ns = LONGEST_NS;
    yields->sleep_end = end + yields->sleep_ns;
    cst_store_relaxed(&tried, end);
    return true;
}

bool cst_yields_cost(struct cst_yields *yields, uint64_t now) {
    if (now < yields->sleep_end) return true;
    if (yields->sleep_end == 0) return false;
    if (now - cst_load_relaxed(&tried) < yields->sleep_ns / 2) {
        yields->sleep_end = now + yields->sleep_ns;
        return true;
    }
    yields->sleep_end = 0;
    yields->last_long = now;
    yields->long_ones = IN_A_ROW - 1;
    return false;
}
