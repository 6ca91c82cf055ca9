/* Which members share a processor; see together.h. */
#include "core/wait/together.h"

#include "core/base/backoff.h"
#include "core/host/busy.h"
#include "core/wait/apart.h"
#include "core/wait/policy.h"
#include "platform/platform.h"

/* Short regions do without: their members wake up in time, as threads that have slept go before
 * Haskell code that computes. Haskell code has to compute for a while. It counts as computing for a
 * while longer, because no Haskell code runs in a collection of garbage. */
uint32_t cst_together_look(struct cst_team *team, uint32_t size) {
    struct cst_together *together = &team->together;
    if (!cst_heuristic_is_on(CST_HEURISTIC_TOGETHER) || cst_policy.forever) return 0;
    uint64_t now = together->begun = cst_clock_ns();
    if (together->long_ones > 0) together->used = cst_thread_usage().cpu_ns;
    uint32_t taken = cst_host_haskell_taken(), others = cst_busy_threads() - size;
    bool lasts = now - together->last < CST_TOGETHER_LASTS_NS;
    together->beside = taken > 0 && others + taken + size > cst_config.available;
    if (!lasts) {
        together->first = now;
        if (!together->beside) cst_store_relaxed(&together->suggested, false);
        return 0;
    }
    others += taken > 0 ? taken : 1;
    if (now - together->first < CST_TOGETHER_AFTER_NS) return 0;
    if (together->long_ones < CST_TOGETHER_LONG_TIMES) return 0;
    if (others + size <= cst_config.available) return 0;
    return others < cst_config.available ? cst_config.available - others : 1;
}

/* Haskell code that runs at the begin of a long region but not at its end is no reason to share.
 * Workers of Capstan.Task take some microseconds to end their last tasks. One region with such code
 * at both its ends is no proof, as other short work may begin there. If members shared for that, a
 * region after each parallel loop of Haskell's took twice as long. */
static void note_haskell(struct cst_together *together, uint64_t now) {
    if (cst_host_haskell_taken() == 0)
        together->throughout /= 2;
    else if (together->throughout < CST_TOGETHER_THROUGHOUT_TIMES)
        together->throughout++;
    if (together->throughout == CST_TOGETHER_THROUGHOUT_TIMES) together->last = now;
}

/* A master that others drove from its processor has taken long, although its part may be short. So
 * the next region after a long one takes the processor time, which costs 0.6 us to ask for. */
void cst_together_measure(struct cst_team *team) {
    struct cst_together *together = &team->together;
    if (together->begun == 0) return;
    uint64_t took = cst_clock_ns() - together->begun;
    bool is_long = took >= CST_TOGETHER_LONG_NS;
    if (is_long && together->used > 0)
        is_long = cst_thread_usage().cpu_ns - together->used >= CST_TOGETHER_LONG_NS;
    if (!is_long)
        together->long_ones = 0;
    else if (together->long_ones < CST_TOGETHER_LONG_TIMES)
        together->long_ones++;
    if (is_long && together->beside) note_haskell(together, together->begun + took);
    together->begun = together->used = 0;
}

/* The first members run where the kernel likes, and the others follow them. A first member that has
 * not run yet comes to the caller's processor. */
uint32_t cst_together_place(struct cst_seat *seat) {
    uint32_t processors = cst_load_relaxed(&seat->team->together.processors);
    if (processors == 0 || seat->number < processors) return 0;
    struct cst_seat *first = cst_team_seat(seat->team, seat->number % processors);
    uint32_t there = cst_load_relaxed(&first->seen_on);
    return there ? there : cst_cpu_current() + 1;
}

void cst_together_come(struct cst_seat *seat) {
    uint32_t place = cst_together_place(seat);
    if (place == 0 || cst_load_relaxed(&seat->seen_on) == place) return;
    cst_cpu_move(0, place - 1);
    cst_apart_say(seat);
}

/* The kernel may leave the master and Haskell code on one processor and another one idle, in a
 * virtual machine for 0.2 s. The other members follow the master, so it has to leave. */
void cst_together_joined(struct cst_team *team) {
    static struct cst_backoff rest;
    uint64_t now = cst_clock_ns();
    struct cst_together *together = &team->together;
    if (now - together->joined < CST_TOGETHER_LATE_NS) {
        if (together->late > 0) together->late--;
        return;
    }
    together->late += 2;
    if (together->late < CST_TOGETHER_LATE_TIMES || cst_backoff_lasts(&rest, now)) return;
    together->late = 0;
    bool again = now - cst_backoff_until(&rest) < cst_backoff_length(&rest);
    cst_backoff_begin(&rest, now, CST_TOGETHER_FIRST_NS, CST_TOGETHER_LONGEST_NS, again);
    cst_apart_from(cst_cpu_current());
}
