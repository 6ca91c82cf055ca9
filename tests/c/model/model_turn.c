/* core/wait/turn.c: while an idle worker looks, every queued master gets its turn, and no two
 * masters have the processors at the same time. No master's patience ends here, as the clock stands
 * still. */
#include "core/host/busy.h"
#include "core/wait/announce.h"
#include "core/wait/policy.h"
#include "core/wait/turn.h"

#include "models.h"

enum { THREADS = 2 }; /* of each region, and processors */

static struct cst_team *team;
static struct cst_thread master[2];
static _Atomic int inside, regions;
static int wanted;

static void open_region(struct cst_thread *thread) {
    const struct cst_turn turn = {.threads = THREADS, .may_wait = true};
    struct cst_turn_from from;
    EXPLORE_CHECK(cst_turn_take(thread, &turn, &from) == THREADS);
    EXPLORE_CHECK(from.team == NULL || from.team == team);
    EXPLORE_CHECK(cst_add_relaxed(&inside, 1) == 0);
    cst_add_relaxed(&inside, -1);
    cst_turn_return(THREADS);
    cst_add_relaxed(&regions, 1);
}

static void look(void) {
    while (cst_load_relaxed(&regions) < wanted) {
        if (cst_load_relaxed(&cst_turn_waiting) != 0) cst_turn_pass(&team->first);
        explore_spin(EXPLORE_AT("look"));
    }
}

static void once(unsigned number) {
    if (number == 2)
        look();
    else
        open_region(&master[number]);
}

static void twice(unsigned number) {
    once(number);
    if (number == 0) open_region(&master[number]);
}

/* Each region is announced by a question. Two may still overlap: both masters looked before one of
 * them announced its region, and that region has begun meanwhile. */
static void announced(unsigned number) {
    const struct cst_turn turn = {.threads = THREADS, .may_wait = true};
    struct cst_turn_from from;
    if (number == 2) {
        look();
        return;
    }
    (void)cst_announce_asks(&master[number].asking, announced);
    cst_turn_announce(&master[number], THREADS, NULL, &from);
    EXPLORE_CHECK(from.team == NULL || from.team == team);
    cst_announce_opens(&master[number].asking);
    EXPLORE_CHECK(cst_turn_take(&master[number], &turn, &from) == THREADS);
    cst_turn_return(THREADS);
    cst_add_relaxed(&regions, 1);
}

static void announced_twice(unsigned number) {
    announced(number);
    if (number == 0) announced(number);
}

static void nobody_is_left(void) {
    EXPLORE_CHECK(cst_busy_threads() == 0);
    EXPLORE_CHECK(cst_load_relaxed(&cst_turn_waiting) == 0);
}

static void setup(int all) {
    models_configure(THREADS, true);
    team = models_team(1, false);
    wanted = all;
    for (int i = 0; i < CST_ANNOUNCE_LEARNED; i++) {
        (void)cst_announce_asks(&master[0].asking, announced);
        cst_announce_opens(&master[0].asking);
    }
}

static void two(void) {
    setup(2);
}

static void three(void) {
    setup(3);
}

int models_run(void) {
    const struct explore_model models[] = {
        {"turn, two masters", two, once, nobody_is_left, .threads = 3},
        {"turn, two masters, one of them twice", three, twice, nobody_is_left, .threads = 3,
         .executions = 50000},
        {"turn, two masters that announce regions", two, announced, nobody_is_left, .threads = 3,
         .executions = 50000},
        {"turn, two masters that announce regions, one of them twice", three, announced_twice,
         nobody_is_left, .threads = 3, .executions = 50000},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
