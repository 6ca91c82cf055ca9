/* Which questions announce regions; see announce.h. */
#include "core/wait/announce.h"

#include "core/host/busy.h"
#include "core/host/host.h"
#include "core/wait/policy.h"
#include "platform/platform.h"

/* The sites, by a hash of their address. Two sites may have one entry: then both are believed, or
 * neither. Threads may overwrite each other's counts, which delays a verdict by some regions. */
enum { SITE_BITS = 6 };
static struct {
    _Atomic uint32_t seen;   /* regions in a row that were announced; at most the needed number */
    _Atomic uint32_t extra;  /* the needed number is CST_ANNOUNCE_LEARNED plus this */
    _Atomic uint32_t prompt; /* regions that came at once, less those that did not */
} site[1 << SITE_BITS];

static uint32_t hash(const void *from) {
    return (uint32_t)((uint64_t)(uintptr_t)from * 0x9e3779b97f4a7c15u >> (64 - SITE_BITS));
}

static bool is_believed(uint32_t number) {
    return cst_load_relaxed(&site[number].seen) >=
           CST_ANNOUNCE_LEARNED + cst_load_relaxed(&site[number].extra);
}

/* A program may ask at every turn of a loop: then the entry stays in all caches. */
static void store(_Atomic uint32_t *count, uint32_t value) {
    if (cst_load_relaxed(count) != value) cst_store_relaxed(count, value);
}

/* The site needs at least `least` regions more, and twice as many as the last time. */
static void refute(uint32_t number, uint32_t least) {
    uint32_t extra = 2 * cst_load_relaxed(&site[number].extra);
    if (extra < least) extra = least;
    if (extra > CST_ANNOUNCE_MOST_EXTRA) extra = CST_ANNOUNCE_MOST_EXTRA;
    store(&site[number].extra, extra);
    store(&site[number].seen, 0);
}

/* The time from a question to its region is the program's own, if no other region is in progress at
 * the question. If one is, the master may wait for it. The answer matters in Haskell programs
 * alone, and to read the clock costs more than the question itself. */
static bool is_timed(uint32_t number) {
    return cst_host_is_haskell() && cst_busy_threads() == 0 &&
           cst_load_relaxed(&site[number].extra) == 0;
}

/* A region of a safe foreign call teaches nothing: that call holds no Capability. If it did while
 * it asked, Haskell code has run in between. */
static void learn_time(const struct cst_asking *asking) {
    if (!cst_host_holds_capability()) return;
    _Atomic uint32_t *count = &site[asking->site].prompt;
    uint32_t prompt = cst_load_relaxed(count);
    if (cst_clock_ns() - asking->since >= CST_ANNOUNCE_PROMPT_NS)
        store(count, prompt > 0 ? prompt - 1 : 0);
    else if (prompt < CST_ANNOUNCE_PROMPT_MOST)
        store(count, prompt + 1);
}

bool cst_announce_asks(struct cst_asking *asking, const void *from) {
    if (asking->asked) refute(asking->site, CST_ANNOUNCE_NO_REGION);
    asking->asked = true;
    asking->site = hash(from);
    asking->since = is_timed(asking->site) ? cst_clock_ns() : 0;
    return is_believed(asking->site);
}

bool cst_announce_holds(const struct cst_asking *asking) {
    return is_believed(asking->site);
}

bool cst_announce_is_prompt(const struct cst_asking *asking) {
    return cst_load_relaxed(&site[asking->site].prompt) >= CST_ANNOUNCE_PROMPT_LEARNED;
}

void cst_announce_learn(struct cst_asking *asking) {
    uint32_t number = asking->site;
    bool alone = cst_busy_threads() == 0;
    if (asking->since != 0) learn_time(asking);
    if (alone && !is_believed(number))
        cst_add_relaxed(&site[number].seen, 1);
    else if (!alone && asking->vain)
        refute(number, CST_ANNOUNCE_IN_VAIN);
    else if (!alone && !is_believed(number))
        store(&site[number].seen, 0);
    asking->asked = asking->vain = false;
}
