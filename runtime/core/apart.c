/* Where a team spins, and who must move; see apart.h.
 *
 * Beside a process that computes, the kernel may keep two members on one processor and leave the
 * other one to that process: for its balance of load this is as good as any other place. One of the
 * two then spins for a whole slice while the other, for which it waits, cannot run; a region takes
 * milliseconds. So members say where they are, and who spins and finds another one there moves.
 *
 * What a member says may be old: the kernel may have moved it since. Then one move too many is
 * made, at most one in each wait. */
#include "core/apart.h"

#include "platform/platform.h"

static void leave_out(uint64_t *bits, uint32_t processor) {
    if (processor < 64 * CST_CPU_MASK_WORDS) bits[processor / 64] &= ~(1ull << processor % 64);
}

static bool any(const uint64_t *bits) {
    for (size_t i = 0; i < CST_CPU_MASK_WORDS; i++)
        if (bits[i] != 0) return true;
    return false;
}

/* Leaves out where the others were seen last. True: one of them here. */
static bool meets(struct cst_thread *thread, uint32_t here, uint64_t *bits) {
    struct cst_team *team = thread->seat->team;
    bool met = false;
    /* The seat's own count: of an idle worker's team, the master may be changing the size. */
    for (uint32_t i = 0; i < thread->seat->size; i++) {
        struct cst_seat *seat = cst_team_seat(team, i);
        uint32_t there = seat == thread->seat ? 0 : cst_load_relaxed(&seat->seen_on);
        if (there == 0) continue;
        met |= there - 1 == here;
        leave_out(bits, there - 1);
    }
    return met;
}

bool cst_apart(struct cst_thread *thread) {
    uint64_t allowed[CST_CPU_MASK_WORDS], free[CST_CPU_MASK_WORDS];
    if (!cst_load_relaxed(&cst_rival_seen)) return false;
    uint32_t here = cst_cpu_current();
    cst_store_relaxed(&thread->seat->seen_on, here + 1);
    for (size_t i = 0; i < CST_CPU_MASK_WORDS; i++) free[i] = UINT64_MAX;
    if (!meets(thread, here, free)) return false;
    if (cst_cpu_mask_get(allowed, CST_CPU_MASK_WORDS) < 2) return false;
    for (size_t i = 0; i < CST_CPU_MASK_WORDS; i++) free[i] &= allowed[i];
    if (!any(free) || !cst_cpu_mask_set(free, CST_CPU_MASK_WORDS)) return false;
    cst_store_relaxed(&thread->seat->seen_on, cst_cpu_current() + 1);
    cst_cpu_mask_set(allowed, CST_CPU_MASK_WORDS);
    return true;
}
