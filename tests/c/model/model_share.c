/* core/work/share.c: each construct has one first member, and the others see its setup. A slot of
 * the ring is not used again while a member is still in its construct. Both hold if members run
 * ahead and constructs get slots outside the ring. */
#include "core/work/share.h"

#include "models.h"

#include <string.h>

static unsigned constructs;
static struct { _Atomic int first; } construct[4];

/* The slot's plain fields stand for the data that a loop keeps there. */
static void meet(struct cst_thread *thread, unsigned number) {
    struct cst_share *share;
    if (cst_share_enter(thread, &share)) {
        EXPLORE_CHECK(cst_add_relaxed(&construct[number].first, 1) == 0);
        share->trip = number + 1;
        share->chunk = 0;
        cst_share_publish(thread, share);
    } else {
        EXPLORE_CHECK(cst_share_await(thread, share));
    }
    EXPLORE_CHECK(share->trip == number + 1);
    cst_share_leave(thread);
}

static void pass(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    for (unsigned i = 0; i < constructs; i++) meet(thread, i);
}

/* Member 1 is some constructs behind: the others find its slots in use. */
static void behind(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    if (number == 1) meet(thread, 0);
    if (number == 0) meet(thread, 1);
    if (number == 1) {
        for (unsigned i = 1; i < CST_SHARE_RING; i++) {
            thread->seat->construct++;
            cst_share_leave(thread);
        }
        meet(thread, 1);
    }
}

static void singles(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    for (unsigned i = 0; i < constructs; i++)
        if (cst_share_single(thread)) EXPLORE_CHECK(cst_add_relaxed(&construct[i].first, 1) == 0);
}

/* All members have left `done` constructs. */
static void prepare(unsigned size, unsigned count, uint64_t done, uint64_t barrier) {
    models_configure(8, true);
    struct cst_team *team = models_team(size, false);
    constructs = count;
    for (unsigned i = 0; i < size; i++) {
        struct cst_seat *seat = cst_team_seat(team, i);
        seat->construct = done;
        seat->construct_at_barrier = barrier;
        cst_store_relaxed(&seat->construct_left, done);
    }
    for (unsigned i = 0; i < 4; i++) cst_store_relaxed(&construct[i].first, 0);
}

static void two(void) {
    prepare(2, 2, 0, 0);
}
static void three(void) {
    prepare(3, 1, 0, 0);
}
/* The last barrier is long past, so each member looks whether the others have left. */
static void two_reuse(void) {
    prepare(2, 2, CST_SHARE_RING, 0);
}
static void three_reuse(void) {
    prepare(3, 1, CST_SHARE_RING, 0);
}
/* Member 0 is a whole ring ahead. */
static void one_behind(void) {
    prepare(2, 1, 0, 0);
    struct cst_thread *first = models_sit(0);
    struct cst_share *share;
    EXPLORE_CHECK(cst_share_enter(first, &share));
    EXPLORE_CHECK(cst_add_relaxed(&construct[0].first, 1) == 0);
    share->trip = 1;
    cst_share_publish(first, share);
    cst_share_leave(first);
    first->seat->construct = CST_SHARE_RING;
    cst_share_leave(first);
}

static void all_had_a_first(void) {
    for (unsigned i = 0; i < constructs; i++)
        EXPLORE_CHECK(cst_load_relaxed(&construct[i].first) == 1);
}

int models_run(void) {
    const struct explore_model models[] = {
        {"share, two members, two constructs", two, pass, all_had_a_first, .threads = 2},
        {"share, three members", three, pass, all_had_a_first, .threads = 3},
        {"share, two members, a ring later", two_reuse, pass, all_had_a_first, .threads = 2},
        {"share, three members, a ring later", three_reuse, pass, all_had_a_first, .threads = 3},
        {"share, a member is a ring behind", one_behind, behind, all_had_a_first, .threads = 2},
        {"single, three members", three, singles, all_had_a_first, .threads = 3},
        {"single, two members, two of them", two, singles, all_had_a_first, .threads = 2},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
