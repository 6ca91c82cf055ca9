/* core/work/dispatch.c: every chunk is taken once, each member's chunks increase, and no member
 * waits for ever. Of a team of six the members 0, 1 and 5 come. The first has its own node; the
 * other two share a node that is filled from it. */
#include "core/work/dispatch.h"
#include "models.h"

enum { TEAM = 6, CHUNKS = 8 * TEAM + 4, MOST_CLAIMS = 8, THREADS = 3 };

static const unsigned numbers[THREADS] = {0, 1, 5};
static unsigned first_thread, threads;
static bool combined, drains;
static struct {
    struct cst_piece piece[MOST_CLAIMS];
    unsigned claims;
} record[THREADS];

static const struct cst_loop_spec loop = {
    .end = CHUNKS, .increment = 1, .schedule = CST_SCHEDULE_DYNAMIC, .up = true};

/* Claims little at first, so that chunks stay in the node for the other member, and then all
 * chunks. */
static void claim(unsigned thread) {
    struct cst_thread *member = models_sit(thread + first_thread);
    if (combined)
        cst_dispatch_join(member);
    else
        EXPLORE_CHECK(cst_dispatch_start(member, &loop));
    for (uint32_t wanted = 1;; wanted = CHUNKS) {
        struct cst_piece piece = cst_dispatch_claim(member, wanted);
        EXPLORE_CHECK(piece.chunks == CHUNKS && piece.step == 1 && piece.end == CHUNKS);
        if (piece.next == piece.limit) break;
        EXPLORE_CHECK(record[thread].claims < MOST_CLAIMS);
        record[thread].piece[record[thread].claims++] = piece;
        if (!drains) break;
    }
}

static void check(void) {
    unsigned times[CHUNKS] = {0}, taken = 0;
    for (unsigned t = 0; t < threads; t++) {
        uint64_t last = 0;
        for (unsigned i = 0; i < record[t].claims; i++) {
            struct cst_piece *piece = &record[t].piece[i];
            EXPLORE_CHECK(piece->next >= last && piece->limit <= CHUNKS);
            last = piece->limit;
            for (uint64_t k = piece->next; k < piece->limit; k++) times[k]++, taken++;
        }
    }
    for (unsigned k = 0; k < CHUNKS; k++) EXPLORE_CHECK(times[k] <= 1);
    EXPLORE_CHECK(!drains || taken == CHUNKS);
}

static void prepare(unsigned first, unsigned count, bool by_master) {
    models_configure(8, true);
    cst_team_few[0] = 1;
    struct cst_team *team = models_team(THREADS, false);
    team->size = TEAM;
    for (unsigned i = 0; i < THREADS; i++) {
        struct cst_thread *member = models_sit(i);
        member->seat->size = TEAM;
        member->number = numbers[i];
        record[i].claims = 0;
    }
    cst_dispatch_enlarge(team, TEAM);
    first_thread = first;
    threads = count;
    combined = by_master;
    drains = true;
    if (by_master) EXPLORE_CHECK(cst_dispatch_prepare(team, &loop));
}

static void two_nodes(void) {
    prepare(0, 2, false);
}
static void one_node(void) {
    prepare(1, 2, false);
}
static void one_node_combined(void) {
    prepare(1, 2, true);
}
static void three_claims(void) {
    prepare(0, 3, false);
    drains = false;
}
static void three(void) {
    prepare(0, 3, false);
}

int models_run(void) {
    const struct explore_model models[] = {
        {"dispatch, a node and the root", two_nodes, claim, check, .threads = 2},
        {"dispatch, two members of a node", one_node, claim, check, .threads = 2},
        {"dispatch, the same in a combined loop", one_node_combined, claim, check, .threads = 2},
        {"dispatch, three members, once", three_claims, claim, check, .threads = 3},
        {"dispatch, three members", three, claim, check, .threads = 3, .executions = 50000},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
