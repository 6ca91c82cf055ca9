/* The books; see ledger.h. */
#include "core/budget/ledger.h"

#include "core/budget/fair.h"

enum { PASSES = 64 };

/* --- members --------------------------------------------------------------------------------- */

static bool claim(struct cst_ledger_member *member, uint64_t before, uint64_t process) {
    if (!cst_cas_acq_rel(&member->process, &before, process)) return false;
    cst_store_relaxed(&member->until, 0);
    cst_store_relaxed(&member->regions, 0);
    return true;
}

static void free_words(struct cst_ledger *ledger, uint64_t process) {
    for (uint32_t i = 0; i < CST_LEDGER_PROCESSORS; i++) {
        uint64_t owner = cst_load_relaxed(&ledger->owners[i]);
        if (owner == process) cst_cas_acq_rel(&ledger->owners[i], &owner, 0);
    }
}

struct cst_ledger_member *cst_ledger_join(struct cst_ledger *ledger, uint64_t process) {
    uint64_t layout = 0;
    if (!cst_cas_acq_rel(&ledger->layout, &layout, CST_LEDGER_LAYOUT) &&
        layout != CST_LEDGER_LAYOUT)
        return NULL;
    free_words(ledger, process);
    for (int look = 0; look < 2; look++)
        for (uint32_t i = 0; i < CST_LEDGER_MEMBERS; i++) {
            struct cst_ledger_member *member = &ledger->members[i];
            uint64_t other = cst_load_relaxed(&member->process);
            bool is_free = other == 0 || other == process || (look && !cst_process_lives(other));
            if (is_free && claim(member, other, process)) return member;
        }
    return NULL;
}

void cst_ledger_leave(struct cst_ledger *ledger, struct cst_ledger_member *member) {
    uint64_t process = cst_load_relaxed(&member->process);
    free_words(ledger, process);
    cst_store_release(&member->process, 0); /* pairs with the exchange in claim */
}

/* --- processors ------------------------------------------------------------------------------ */

/* One search through the words. An owner that was found alive is not looked up twice in it. */
struct look {
    uint64_t alive;
    bool allowed;
};

static bool is_dead(struct look *look, uint64_t owner) {
    if (!look->allowed || owner == look->alive) return false;
    if (!cst_process_lives(owner)) return true;
    look->alive = owner;
    return false;
}

/* The two steps, each one compare-and-swap: `take` goes from 0 or an ended process to this process,
 * and `give_back` from this process to 0. */
static bool take(_Atomic uint64_t *word, uint64_t process, struct look *look) {
    uint64_t owner = cst_load_relaxed(word);
    if (owner == process || (owner != 0 && !is_dead(look, owner))) return false;
    return cst_cas_acq_rel(word, &owner, process);
}

static bool give_back(_Atomic uint64_t *word, uint64_t process) {
    uint64_t owner = cst_load_relaxed(word);
    return owner == process && cst_cas_acq_rel(word, &owner, 0);
}

/* The next processor of the mask from `*at` on, going around once; false: there is none. */
static bool next(const uint64_t *mask, uint32_t *at, uint32_t *left) {
    while (*left > 0) {
        uint32_t word = *at / 64, bit = *at % 64;
        uint64_t rest = mask[word] >> bit;
        uint32_t step = rest ? (uint32_t)__builtin_ctzll(rest) : 64 - bit;
        if (step >= *left && !(rest && step < *left)) return false;
        *left -= step;
        *at = (*at + step) % CST_LEDGER_PROCESSORS;
        if (rest) return true;
    }
    return false;
}

static uint32_t each(struct cst_ledger *ledger, uint64_t process, const uint64_t *mask,
                     uint32_t hint, uint32_t count, struct look *look) {
    uint32_t done = 0, at = hint % CST_LEDGER_PROCESSORS, left = CST_LEDGER_PROCESSORS;
    while (done < count && next(mask, &at, &left)) {
        _Atomic uint64_t *word = &ledger->owners[at];
        done += look ? take(word, process, look) : give_back(word, process);
        at = (at + 1) % CST_LEDGER_PROCESSORS;
        left--;
    }
    return done;
}

uint32_t cst_ledger_take(struct cst_ledger *ledger, uint64_t process, const uint64_t *mask,
                         uint32_t hint, uint32_t count, bool look) {
    struct look none = {0}, some = {.allowed = true};
    uint32_t taken = each(ledger, process, mask, hint, count, &none);
    if (look && taken < count) taken += each(ledger, process, mask, hint, count - taken, &some);
    return taken;
}

/* Several threads may take and give back at once. A pass may miss words that are taken behind it
 * while others are given back before it; later passes find enough. The number of passes is bounded:
 * a process stopped within cst_ledger_leave may find that other processes have some of its
 * words. */
void cst_ledger_return(struct cst_ledger *ledger, uint64_t process, const uint64_t *mask,
                       uint32_t hint, uint32_t count) {
    for (int passes = 0; count > 0 && passes < PASSES; passes++)
        count -= each(ledger, process, mask, hint, count, NULL);
}

/* --- parts ----------------------------------------------------------------------------------- */

/* Does the member count? A member whose time has passed is in a long region, or its process has
 * ended. */
static bool counts(struct cst_ledger_member *member, uint64_t now) {
    uint64_t process = cst_load_relaxed(&member->process);
    if (process == 0) return false;
    if (now < cst_load_relaxed(&member->until)) return true;
    if (cst_load_relaxed(&member->regions) == 0) return false;
    if (cst_process_lives(process)) return true;
    cst_cas_acq_rel(&member->process, &process, 0);
    return false;
}

struct claims {
    uint32_t total, count;
    uint32_t wants[CST_LEDGER_MEMBERS];
};

static uint32_t sum_at(const struct claims *claims, uint32_t level) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < claims->count; i++) sum += cst_fair_at(level, 0, claims->wants[i]);
    return sum;
}

static bool fits(const void *about, uint32_t level) {
    const struct claims *claims = about;
    return sum_at(claims, level) <= claims->total;
}

uint32_t cst_ledger_part(struct cst_ledger *ledger, const struct cst_ledger_member *member,
                         uint32_t total, uint64_t now) {
    struct claims claims = {.total = total};
    uint64_t processors = cst_load_relaxed(&member->processors);
    uint32_t own = 0;
    for (uint32_t i = 0; i < CST_LEDGER_MEMBERS; i++) {
        struct cst_ledger_member *other = &ledger->members[i];
        if (other == member) own = claims.count;
        if (other != member &&
            (!(cst_load_relaxed(&other->processors) & processors) || !counts(other, now)))
            continue;
        claims.wants[claims.count++] = cst_load_relaxed(&other->wants);
    }
    uint32_t level = cst_fair_level(total, fits, &claims);
    uint32_t over = total - sum_at(&claims, level); /* the first members get one more */
    uint32_t part = cst_fair_at(level, 0, claims.wants[own]);
    for (uint32_t i = 0; i <= own && over > 0; i++)
        if (claims.wants[i] > level) part += (over--, i == own);
    return part ? part : 1;
}
