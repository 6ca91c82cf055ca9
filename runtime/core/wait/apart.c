/* The placement of spinning members; see apart.h.
 *
 * Beside a process that computes, the kernel may keep two members on one processor and leave
 * another processor to that process: its balance of load does not distinguish the two. One member
 * then spins for a whole slice, while the member that it waits for cannot run, and a region takes
 * milliseconds. So members publish their processors, and a spinning member moves if it finds
 * another member on its own processor.
 *
 * The published processor may be old: the kernel may have moved the member since. And it may be
 * right to stay. A process, or a control group, whose weight is spread over many threads gets very
 * little of a processor on which another one computes. A member that moves there may wait for
 * seconds. So two conditions hold:
 *   - A member moves only if it has had about half of a processor for some slices. Then two threads
 *     run there, itself and the other member, and so its process has few threads.
 *   - A member that then had to wait for longer than one slice goes back. No member moves for a
 *     while after that, for longer each time.
 *
 * Three callers skip the first condition, because they have direct evidence:
 *   - A master that is given a turn (turn.h) was woken by a worker that continues on this
 *     processor, when another processor had become free.
 *   - A member that yields repeatedly to another one (wait.c), and has the processor back at once
 *     each time, is alone with it.
 *   - A member that has the processor back after longer, and finds that another member which had
 *     published this processor has arrived, knows the time that it lost. */
#include "core/wait/apart.h"

#include "core/base/backoff.h"
#include "core/wait/policy.h"
#include "platform/platform.h"

/* After a wrong move, no member moves while this lasts. */
static struct cst_backoff rest;

_Atomic bool cst_apart_wakes_here;

static void leave_out(uint64_t *bits, uint32_t processor) {
    if (processor < 64 * CST_CPU_MASK_WORDS) bits[processor / 64] &= ~(1ull << processor % 64);
}

static bool any(const uint64_t *bits) {
    for (size_t i = 0; i < CST_CPU_MASK_WORDS; i++)
        if (bits[i] != 0) return true;
    return false;
}

static void all_of(uint64_t *bits) {
    for (size_t i = 0; i < CST_CPU_MASK_WORDS; i++) bits[i] = UINT64_MAX;
}

/* Clears the processors on which the other members were last seen. True: one of them was seen
 * here. */
static bool meets(struct cst_thread *thread, uint32_t here, uint64_t *bits) {
    struct cst_team *team = thread->seat->team;
    bool met = false;
    /* The seat's own size: the master may be changing the size of an idle worker's team. */
    for (uint32_t i = 0; i < thread->seat->size; i++) {
        struct cst_seat *seat = cst_team_seat(team, i);
        uint32_t there = seat == thread->seat ? 0 : cst_load_relaxed(&seat->seen_on);
        if (there == 0) continue;
        met |= there - 1 == here;
        leave_out(bits, there - 1);
    }
    return met;
}

/* Has the thread had about half of its processor, in some slices until now? */
static bool has_half(struct cst_thread *thread, uint64_t now) {
    uint64_t passed = now - thread->apart.begun_ns, before = thread->apart.used_ns;
    if (passed < CST_APART_WINDOW_NS) return false;
    thread->apart.begun_ns = now;
    thread->apart.used_ns = cst_thread_usage().cpu_ns;
    uint64_t used = thread->apart.used_ns - before;
    return passed < CST_APART_STALE_NS && 5 * used > 2 * passed && 4 * used < 3 * passed;
}

static void go_back(uint32_t processor) {
    uint64_t mask[CST_CPU_MASK_WORDS] = {0};
    mask[processor / 64] = 1ull << processor % 64;
    cst_cpu_mask_set_own(mask, CST_CPU_MASK_WORDS);
    cst_backoff_begin(&rest, cst_clock_ns(), CST_APART_FIRST_NS,
                      (uint64_t)CST_APART_FIRST_NS << CST_APART_DOUBLINGS, true);
}

/* Moves the calling thread from `here` to a processor of `free` that it may use. Returns that
 * processor, plus 1; 0: the thread stays. */
static uint32_t move(uint32_t here, uint64_t *free) {
    uint64_t allowed[CST_CPU_MASK_WORDS], begin = cst_clock_ns();
    if (!cst_heuristic_is_on(CST_HEURISTIC_APART)) return 0;
    if (cst_backoff_lasts(&rest, begin)) return 0;
    if (cst_cpu_mask_get_own(allowed, CST_CPU_MASK_WORDS) < 2) return 0;
    for (size_t i = 0; i < CST_CPU_MASK_WORDS; i++) free[i] &= allowed[i];
    if (!any(free) || !cst_cpu_mask_set_own(free, CST_CPU_MASK_WORDS)) return 0;
    if (cst_clock_ns() - begin > CST_APART_MOVE_NS) go_back(here);
    uint32_t there = cst_cpu_current() + 1;
    cst_cpu_mask_set_own(allowed, CST_CPU_MASK_WORDS);
    return there;
}

static bool part(struct cst_thread *thread, bool at_once) {
    uint64_t free[CST_CPU_MASK_WORDS];
    uint32_t here = cst_cpu_current();
    if (thread->seat->crowded == CST_TOGETHER) return false;
    cst_store_relaxed(&thread->seat->seen_on, here + 1);
    all_of(free);
    if (!meets(thread, here, free)) return false;
    uint32_t there = at_once || has_half(thread, cst_clock_ns()) ? move(here, free) : 0;
    if (there != 0) cst_store_relaxed(&thread->seat->seen_on, there);
    return there != 0;
}

bool cst_apart_is_beside(struct cst_thread *thread) {
    uint64_t others[CST_CPU_MASK_WORDS];
    all_of(others);
    return meets(thread, cst_cpu_current(), others);
}

bool cst_apart(struct cst_thread *thread) {
    return cst_load_relaxed(&cst_rival_seen) && part(thread, false);
}

bool cst_apart_at_once(struct cst_thread *thread) {
    return part(thread, true);
}

void cst_apart_woken(uint32_t processor) {
    if (cst_load_relaxed(&cst_apart_wakes_here) || cst_load_relaxed(&cst_rival_seen)) return;
    if (cst_cpu_current() + 1 == processor) cst_store_relaxed(&cst_apart_wakes_here, true);
}

void cst_apart_from(uint32_t processor) {
    uint64_t free[CST_CPU_MASK_WORDS];
    if (cst_cpu_current() != processor) return;
    all_of(free);
    leave_out(free, processor);
    move(processor, free);
}
