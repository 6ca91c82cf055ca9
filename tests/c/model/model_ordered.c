/* core/work/ordered.c and doacross.c: ordered regions run in the order of the iterations, and each
 * sees the writes of the region before. An iteration that waits for another's post sees its writes.
 * No member sleeps for ever. */
#include "core/work/ordered.h"

#include "core/state/thread.h"
#include "models.h"

#include <string.h>

enum { CHUNKS = 3 };

static struct cst_share *share;
static unsigned members, posts;
static uint64_t turn; /* counts the executed ordered regions, by plain writes */
static int written[CHUNKS + 1];

/* Member n has the chunks n, n + members and so on, of one iteration each. */
static void in_order(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    for (uint64_t i = number; i < CHUNKS; i += members) {
        thread->loop.first = i;
        thread->loop.last = i + 1;
        thread->loop.ordered_ends = 0;
        cst_ordered_begin(thread);
        EXPLORE_CHECK(turn == i);
        turn++;
        cst_ordered_end(thread);
    }
}

/* Each iteration waits for the iteration before, which belongs to another member. */
static void in_chain(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    for (uint64_t i = number; i < posts; i += members) {
        uint64_t before = i - 1;
        if (i > 0) {
            cst_doacross_wait(thread, &before);
            EXPLORE_CHECK(written[i - 1] == 1);
        }
        written[i] = 1;
        cst_doacross_post(thread, &i);
    }
}

static void prepare(unsigned size, bool crowded, bool spinning) {
    models_configure(crowded ? 1 : 8, spinning);
    struct cst_team *team = models_team(size, crowded);
    members = size;
    turn = 0;
    memset(written, 0, sizeof written);
    share = &team->ring[0];
    share->ordered = true;
    share->trip = CHUNKS;
    share->chunk = 1;
    share->schedule = CST_SCHEDULE_STATIC;
    cst_store_relaxed(&share->turn, 0);
    for (unsigned i = 0; i < size; i++) models_sit(i)->share = share;
    models_sit(0);
}

static void chain(unsigned size, unsigned count, bool crowded, bool spinning) {
    uint64_t counts[] = {CHUNKS};
    struct cst_doacross_spec spec = {.count = 1, .counts = counts};
    prepare(size, crowded, spinning);
    posts = count;
    cst_doacross_set_up(models_sit(0), share, &spec);
    for (unsigned i = 0; i < size; i++) models_sit(i)->doacross = share->doacross;
    models_sit(0);
}

static void two(void) {
    prepare(2, false, true);
}
static void two_asleep(void) {
    prepare(2, false, false);
}
static void three(void) {
    prepare(3, false, true);
}
static void chain_two(void) {
    chain(2, 3, false, true);
}
static void chain_two_asleep(void) {
    chain(2, 2, false, false);
}
static void chain_two_crowded(void) {
    chain(2, 2, true, false);
}
static void chain_three(void) {
    chain(3, 3, false, true);
}

static void all_turns(void) {
    EXPLORE_CHECK(turn == CHUNKS);
}

int models_run(void) {
    const struct explore_model models[] = {
        {"ordered, two members, spinning", two, in_order, all_turns, .threads = 2},
        {"ordered, two members", two_asleep, in_order, all_turns, .threads = 2,
         .executions = 50000},
        {"ordered, three members, spinning", three, in_order, all_turns, .threads = 3},
        {"doacross, two members, spinning", chain_two, in_chain, NULL, .threads = 2},
        {"doacross, two members", chain_two_asleep, in_chain, NULL, .threads = 2},
        {"doacross, two members of a crowded team", chain_two_crowded, in_chain, NULL,
         .threads = 2},
        {"doacross, three members, spinning", chain_three, in_chain, NULL, .threads = 3,
         .executions = 50000},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
