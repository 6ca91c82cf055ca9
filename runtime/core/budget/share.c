/* This process's part in the books; see share.h, and README.md for the protocol. */
#include "core/budget/share.h"

#include "core/base/lock.h"
#include "core/base/message.h"
#include "core/budget/ledger.h"
#include "core/budget/processors.h"
#include "core/settings/config.h"
#include "platform/platform.h"

#include <string.h>

enum {
    LOOK_NS = 4000000,   /* between two checks of the others; one tick of the coarse clock */
    GRACE_NS = 20000000, /* time after a region in which the process still counts */
};

static struct {
    cst_lock lock;             /* for joining */
    struct cst_ledger *ledger; /* NULL: not yet */
    _Atomic(struct cst_ledger_member *) member;
    uint64_t process;
    uint64_t mask[CST_CPU_MASK_WORDS]; /* of the first thread, when the process joined */
    _Atomic uint64_t looked;           /* last check of the others, by the coarse clock */
    _Atomic uint64_t searched;         /* last search for processors of ended processes */
} share;

_Atomic bool cst_share_wanted, cst_share_tight;
_Atomic uint32_t cst_share_part, cst_share_held;

/* --- joining --------------------------------------------------------------------------------- */

static void give_up(const char *what, const char *reason) {
    cst_message("CAPSTAN_SHARE=%s: processors are not shared: %s: %s", cst_config.share, what,
                reason);
    cst_store_relaxed(&cst_share_wanted, false);
}

static struct cst_ledger_member *join(void) {
    char path[128];
    const char *reason = NULL;
    share.process = cst_process_identity();
    if (!share.ledger)
        share.ledger =
            cst_shared_memory(cst_config.share, sizeof *share.ledger, path, sizeof path, &reason);
    struct cst_ledger_member *member = NULL;
    if (!share.ledger)
        give_up(path, reason);
    else if (share.process == 0)
        give_up("/proc/self/stat", "it cannot be read");
    else if (!(member = cst_ledger_join(share.ledger, share.process)))
        give_up("the books", "they are full, or of another version of Capstan");
    if (!member) return NULL;
    uint64_t all = 0;
    cst_cpu_process_mask(share.mask, CST_CPU_MASK_WORDS);
    for (int i = 0; i < CST_CPU_MASK_WORDS; i++) all |= share.mask[i];
    cst_store_relaxed(&member->processors, all);
    return member;
}

/* The process's place in the books; NULL: it cannot have one. */
static struct cst_ledger_member *place(void) {
    struct cst_ledger_member *member = cst_load_acquire(&share.member);
    if (cst_likely(member != NULL)) return member;
    int held = cst_cancellation_hold();
    cst_lock_acquire(&share.lock);
    member = cst_load_relaxed(&share.member);
    if (!member && cst_load_relaxed(&cst_share_wanted)) {
        member = join();
        cst_store_release(&share.member, member); /* pairs with the load above */
    }
    cst_lock_release(&share.lock);
    cst_cancellation_release(held);
    return member;
}

/* --- regions --------------------------------------------------------------------------------- */

/* Tells the other processes how many processors this one wants, and checks theirs from time to
 * time. */
static void look(struct cst_ledger_member *member, uint32_t wants, uint64_t now) {
    uint64_t looked = cst_load_relaxed(&share.looked);
    if (cst_load_relaxed(&member->wants) != wants) cst_store_relaxed(&member->wants, wants);
    if (looked != 0 && now - looked < LOOK_NS) return;
    if (!cst_cas_acq_rel(&share.looked, &looked, now)) return;
    cst_store_relaxed(&member->until, now + GRACE_NS);
    uint32_t part = cst_ledger_part(share.ledger, member, cst_processors(), now);
    cst_store_relaxed(&cst_share_part, part);
    cst_store_relaxed(&cst_share_tight, part < wants);
}

/* Reserves the right to hold `count` more processors. If `at_most`, all regions together get no
 * more than the process's part. */
static uint32_t reserve(uint32_t count, bool at_most) {
    uint32_t held = cst_load_relaxed(&cst_share_held), part = cst_load_relaxed(&cst_share_part),
             granted;
    do {
        uint32_t left = part > held ? part - held : 0;
        granted = at_most && left < count ? left : count;
    } while (!cst_cas_acq_rel(&cst_share_held, &held, held + granted));
    return granted;
}

/* Where processes are not bound, any processor serves. Each process begins at another one, so that
 * their exchanges do not meet. */
static uint32_t hint(void) {
    return (uint32_t)(share.process * 7);
}

static uint32_t take(uint32_t count, uint64_t now) {
    uint64_t searched = cst_load_relaxed(&share.searched);
    if (count == 0) return 0;
    bool search = now - searched >= LOOK_NS;
    uint32_t taken = cst_ledger_take(share.ledger, share.process, share.mask, hint(), count, false);
    if (taken == count || !search || !cst_cas_acq_rel(&share.searched, &searched, now))
        return taken;
    return taken +
           cst_ledger_take(share.ledger, share.process, share.mask, hint(), count - taken, true);
}

/* `hold` is one more than the number of processors, as a region that has none counts too. */
uint32_t cst_share_take_some(uint32_t threads, uint32_t least, bool at_most, uint32_t *hold) {
    struct cst_ledger_member *member = place();
    if (!member) return threads;
    uint64_t now = cst_clock_coarse_ns();
    look(member, cst_load_relaxed(&cst_share_held) + threads, now);
    uint32_t leave = reserve(threads, at_most), taken = take(leave, now);
    if (at_most && taken < least) {
        cst_ledger_return(share.ledger, share.process, share.mask, hint(), taken);
        cst_sub_acq_rel(&cst_share_held, leave);
        return least - 1;
    }
    cst_sub_acq_rel(&cst_share_held, leave - taken);
    cst_add_relaxed(&member->regions, 1);
    *hold = taken + 1;
    return at_most ? taken : threads;
}

uint32_t cst_share_expect(uint32_t threads) {
    struct cst_ledger_member *member = cst_load_acquire(&share.member);
    if (!member) return threads;
    uint32_t held = cst_load_relaxed(&cst_share_held);
    look(member, held + threads, cst_clock_coarse_ns());
    uint32_t part = cst_load_relaxed(&cst_share_part), left = part > held ? part - held : 1;
    return left < threads ? left : threads;
}

void cst_share_return_some(uint32_t hold) {
    struct cst_ledger_member *member = cst_load_acquire(&share.member);
    if (!member) return;
    cst_ledger_return(share.ledger, share.process, share.mask, hint(), hold - 1);
    cst_sub_acq_rel(&cst_share_held, hold - 1);
    cst_sub_acq_rel(&member->regions, 1);
}

/* --- the process ----------------------------------------------------------------------------- */

void cst_share_start(void) {
    cst_store_relaxed(&cst_share_wanted, cst_config.share[0] != '\0');
    /* A number of threads that the user has set stays. */
    if (cst_config.share[0] && !cst_config.dynamic_given && !cst_config.icv.nthreads_explicit)
        cst_config.icv.dynamic = CST_DYNAMIC_ON;
}

void cst_share_end(void) {
    struct cst_ledger_member *member = cst_load_acquire(&share.member);
    if (!member || cst_load_relaxed(&cst_share_held) > 0) return; /* others notice its end anyway */
    cst_ledger_leave(share.ledger, member);
    cst_store_relaxed(&share.member, NULL);
    cst_store_relaxed(&cst_share_wanted, false);
}

/* The child is another process, and has no regions. */
void cst_share_after_fork(void) {
    cst_store_relaxed(&share.lock, CST_LOCK_FREE);
    cst_store_relaxed(&share.member, NULL);
    cst_store_relaxed(&cst_share_held, 0);
    cst_store_relaxed(&share.looked, 0);
}
