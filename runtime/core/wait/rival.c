/* Rivals for the processors; see rival.h.
 *
 * Linux divides a processor fairly. A thread that has spun through its share waits behind every
 * process that computes, for milliseconds each. A thread that has slept gets the processor soon
 * after it is woken. So while rivals want all processors, waiting must not cost processor time.
 * Rivals are remembered for a while, since a team that sleeps in time does not notice them. The
 * time doubles each time that they are still there at its end, so that new looks cost ever less.
 *
 * A single process that computes takes one processor half of the time. In the other half, a
 * spinning team runs as fast as alone, with many regions in a slice, while a sleeping team switches
 * threads in each region. So a rival counts only if the team's regions and barriers are some way
 * apart, or if two threads have lost their processors at the same time.
 *
 * When a waiter that has lost its slice runs again, the awaited member has mostly run too, and the
 * wait has ended. So the end of a spin is looked at as well. But two losses at the same time do not
 * count there, as empty regions have many of them
 * (docs/notes/145-slices-that-were-lost-at-the-end-of-a-spin.md).
 *
 * The runtime's own threads may also take a member's slice: those of other masters' teams, or idle
 * workers that have not fallen asleep yet. That is no rival. To sleep would not make room for
 * anyone, and each region would cost wake-ups. So a lost slice tells nothing if at its begin or end
 * more members were awake than there are processors. And a slice that a member of the same team had
 * is not lost: the two are on one processor by the kernel's choice (wait.c, `lost_to_others`).
 *
 * Haskell code of the same process is no rival either. If a member slept, GHC would take its
 * processor, and the call would return only after GHC's slice of 20 ms. A member that spins shares
 * the processor as the kernel divides it. Code that takes long leaves its processor out instead
 * (together.c). */
#include "core/wait/rival.h"

#include "core/base/backoff.h"
#include "core/wait/policy.h"
#include "core/host/busy.h"
#include "core/host/host.h"
#include "platform/atomic.h"
#include "platform/check.h"

static struct {
    _Atomic bool known;
    struct cst_backoff memory;                   /* a rival stays known while it lasts */
    _Atomic uint32_t asked;                      /* number of suspiciously long waits */
    _Atomic uint64_t lost_from, lost_to;         /* begin and end of the last lost slice, */
    const struct cst_rival_watch *_Atomic loser; /* and the thread that lost it */
} rival;

_Atomic bool cst_rival_seen;

/* Has the thread waited seldom? The window is some slices long, as a stall has few waits too, and
 * excludes times in which no slice was lost. */
static bool is_coarse(struct cst_rival_watch *watch, uint64_t now) {
    uint64_t passed = now - watch->counted_ns;
    uint32_t waits = watch->waits - watch->counted_waits;
    if (passed < CST_RIVAL_SLICES_NS) return false;
    watch->counted_ns = now;
    watch->counted_waits = watch->waits;
    return passed < CST_RIVAL_STALE_NS && passed > (uint64_t)CST_RIVAL_COARSE_NS * waits;
}

/* Have two threads lost their processors at the same time? A single rival cannot take both. */
static bool are_several(const struct cst_rival_watch *watch, uint64_t begin, uint64_t end) {
    uint64_t begun = cst_load_relaxed(&rival.lost_from), ended = cst_load_relaxed(&rival.lost_to);
    const struct cst_rival_watch *loser = cst_load_relaxed(&rival.loser);
    cst_store_relaxed(&rival.lost_from, begin);
    cst_store_relaxed(&rival.lost_to, end);
    cst_store_relaxed(&rival.loser, watch);
    if (cst_config.available == 1) return true;
    uint64_t from = begun > begin ? begun : begin, to = ended < end ? ended : end;
    return loser != watch && (int64_t)(to - from) >= CST_RIVAL_SLICE_NS;
}

static void remember(uint64_t now) {
    if (cst_backoff_lasts(&rival.memory, now)) return;
    uint64_t last = cst_backoff_until(&rival.memory) + cst_backoff_length(&rival.memory);
    cst_backoff_begin(&rival.memory, now, CST_RIVAL_FIRST_NS, CST_RIVAL_LONGEST_NS,
                      now <= last + CST_RIVAL_STALE_NS);
    cst_store_relaxed(&rival.known, true);
}

bool cst_rival_was_known(void) {
    return cst_load_relaxed(&rival.known);
}

bool cst_rival_is_known(void) {
    if (!cst_rival_was_known()) return false;
    uint64_t now = cst_clock_ns();
    if (cst_backoff_lasts(&rival.memory, now)) return true;
    cst_store_relaxed(&rival.known, false);
    return false;
}

bool cst_rival_computes(uint64_t now) {
    static _Atomic uint64_t without;  /* a look found too few threads that go on at this time, */
    static _Atomic uint32_t in_a_row; /* and so many looks since then found enough */
    if (!cst_heuristic_is_on(CST_HEURISTIC_HASKELL) ||
        cst_host_haskell_going_on() < cst_config.available) {
        cst_store_relaxed(&without, now);
        cst_store_relaxed(&in_a_row, 0);
        return false;
    }
    if (cst_load_relaxed(&in_a_row) < CST_RIVAL_LOOKS) cst_add_relaxed(&in_a_row, 1);
    return cst_load_relaxed(&in_a_row) >= CST_RIVAL_LOOKS &&
           (int64_t)(now - cst_load_relaxed(&without)) > CST_RIVAL_COMPUTES_NS;
}

static bool lost_lately(uint64_t now) {
    return (int64_t)(now - cst_load_relaxed(&rival.lost_to)) < CST_RIVAL_LATELY_NS;
}

/* May the slice that ends now have gone to one of the runtime's own threads? */
static bool may_be_ours(struct cst_rival_watch *watch) {
    bool began = watch->ourselves;
    watch->ourselves = cst_busy_with_ourselves();
    return began || watch->ourselves;
}

/* Notes that the thread has lost a slice of `ns`, unless it may be `ours`. True: a rival has it. */
static bool judge(struct cst_rival_watch *watch, uint64_t ns, uint64_t now, bool ours) {
    if (!cst_heuristic_is_on(CST_HEURISTIC_RIVALS)) return false;
    bool seen = cst_load_relaxed(&cst_rival_seen);
    if (ns < CST_RIVAL_SLICE_NS || ours) {
        if (cst_unlikely(seen) && !lost_lately(now)) cst_store_relaxed(&cst_rival_seen, false);
        return false;
    }
    if (!seen) cst_store_relaxed(&cst_rival_seen, true);
    bool several = are_several(watch, now - ns, now), coarse = is_coarse(watch, now);
    if ((!several && !coarse) || cst_host_haskell_runs()) return false;
    remember(now);
    return true;
}

bool cst_rival_took(struct cst_rival_watch *watch, uint64_t ns, uint64_t now) {
    return judge(watch, ns, now, may_be_ours(watch));
}

void cst_rival_note(struct cst_rival_watch *watch, uint64_t ns, uint64_t now) {
    if (!cst_heuristic_is_on(CST_HEURISTIC_RIVALS)) return;
    bool ours = may_be_ours(watch);
    if (ns < CST_RIVAL_SLICE_NS || ours) return;
    if (is_coarse(watch, now) && !cst_host_haskell_runs()) remember(now);
}

void cst_rival_look(struct cst_rival_watch *watch) {
    uint64_t now = cst_clock_ns();
    struct cst_rival_watch before = *watch;
    bool ours = may_be_ours(watch);
    watch->looked_ns = now;
    watch->usage = cst_thread_usage();
    /* A thread that has slept meanwhile was also off its processor voluntarily. */
    if (before.looked_ns == 0 ||
        watch->usage.voluntary_switches != before.usage.voluntary_switches ||
        watch->usage.involuntary_switches == before.usage.involuntary_switches)
        return;
    uint64_t passed = now - before.looked_ns, used = watch->usage.cpu_ns - before.usage.cpu_ns;
    if (passed > used) judge(watch, passed - used, now, ours);
}

void cst_rival_forgive(struct cst_rival_watch *watch) {
    watch->looked_ns = 0;
}

void cst_rival_ask(struct cst_rival_watch *watch) {
    watch->asked = cst_add_relaxed(&rival.asked, 1) + 1;
}

void cst_rival_answer(struct cst_rival_watch *watch) {
    uint32_t asked = cst_load_relaxed(&rival.asked);
    if (cst_likely(asked == watch->asked)) return;
    watch->asked = asked;
    if (!cst_confined_now()) cst_rival_look(watch);
}
