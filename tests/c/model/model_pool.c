/* core/team/pool.c: one master at a time has a team, and the next master sees the writes of the
 * last. */
#include "core/team/pool.h"

#include "core/settings/config.h"
#include "models.h"

enum { MASTERS = 2 };

static struct cst_thread *master[MASTERS];
static struct cst_team *team[MASTERS]; /* all teams of the pool, so that no worker is made */
static _Atomic int inside[MASTERS];
static unsigned leases;

static void use(struct cst_thread *thread) {
    uint32_t granted;
    struct cst_team *got = cst_pool_lease(thread, 2, CST_SHRINK_NEVER, &granted);
    unsigned which = got == team[1];
    EXPLORE_CHECK(got == team[which] && granted == 2);
    EXPLORE_CHECK(cst_add_relaxed(&inside[which], 1) == 0);
    got->region++; /* plain, like all data that a master changes */
    cst_add_relaxed(&inside[which], -1);
    cst_pool_return(got);
}

static void lease(unsigned number) {
    cst_current_thread = master[number];
    for (unsigned i = 0; i < leases; i++) use(master[number]);
}

/* The second master ends while the first goes on; then any master may take the team that was kept
 * for it.
 */
static void forget(unsigned number) {
    lease(number);
    if (number == 1) cst_pool_forget(master[1]);
}

static void prepare(unsigned times, enum cst_dynamic dynamic) {
    models_configure(8, true);
    leases = times;
    for (unsigned i = 0; i < MASTERS; i++) {
        uint32_t granted;
        cst_store_relaxed(&inside[i], 0);
        cst_current_thread = NULL;
        master[i] = cst_self();
        master[i]->task->icv.dynamic = dynamic;
        team[i] = cst_pool_lease(master[i], 2, CST_SHRINK_NEVER, &granted);
    }
    for (unsigned i = 0; i < MASTERS; i++) cst_pool_return(team[i]);
    /* Both masters had the second team last. */
    if (dynamic != CST_DYNAMIC_OFF) master[0]->last_team[0] = team[1];
}

static void once(void) {
    prepare(1, CST_DYNAMIC_LEASED);
}
static void twice(void) {
    prepare(2, CST_DYNAMIC_LEASED);
}
static void kept(void) {
    prepare(1, CST_DYNAMIC_OFF);
}

int models_run(void) {
    const struct explore_model models[] = {
        {"pool, two masters", once, lease, NULL, .threads = 2},
        {"pool, two masters, twice", twice, lease, NULL, .threads = 2},
        {"pool, teams that are kept", kept, forget, NULL, .threads = 2},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
