/* The end of a barrier or region that has tasks: every member has arrived, and continues when all
 * tasks are complete. See README.md, "The end of a barrier".
 *
 * In a small team, member 0 reads the counts of all members. In a large team, the counts are summed
 * up the tree of the fork. Each member publishes the counts of itself and of the members below it
 * for its parent. It publishes again when they have changed and it has no task to run. The sums at
 * the root may agree although they are of different times. So the root asks once more, by a wave
 * down the tree and up again. */
#include "core/task/quiesce.h"

#include "core/task/cancel.h"
#include "core/task/task.h"
#include "core/wait/wait.h"
#include "platform/happens.h"

/* A wave is named by a barrier's number and the number of the attempt. */
#define FIRST_WAVE(barrier) ((uint64_t)(barrier) << 32 | 1)
#define COMPLETE(barrier) ((uint64_t)(barrier) << 32 | UINT32_MAX)

enum {
    LOOK_ELSEWHERE = 512 /* turns of waiting between two looks at `quiet` */
};

struct sums {
    uint64_t made, done;
};

/* --- a small team ----------------------------------------------------------------------- */

/* Are all deferred tasks of the team complete? The question comes when every member has arrived, so
 * that only tasks make tasks. The counts only grow. The completed tasks are summed first, the made
 * ones later. If the sums are equal, no task was outstanding at the moment between the two. Relaxed
 * is enough for `made`: a load that sees the completion of a task orders its making before it. */
static bool all_done(struct cst_team *team) {
    uint32_t size = team->size;
    uint64_t done = cst_load_seq_cst(&team->foreign_done), made = 0;
    for (uint32_t i = 0; i < size; i++)
        done += cst_load_seq_cst(&cst_team_seat(team, i)->tasks_done);
    for (uint32_t i = 0; i < size; i++)
        made += cst_load_relaxed(&cst_team_seat(team, i)->tasks_made);
    return done == made;
}

static bool all_done_holds(const struct cst_wait *wait) {
    return all_done((struct cst_team *)wait->object);
}

/* --- the tree --------------------------------------------------------------------------- */

/* Sends a wave to the children of a member. */
static void tell(struct cst_seat *seat, uint64_t wave) {
    uint32_t end = cst_tree_end(seat->number, seat->size);
    for (uint32_t i = cst_tree_first(seat->number); i < end; i++) {
        struct cst_seat *child = cst_team_seat(seat->team, i);
        cst_exchange_seq_cst(&child->told, wave);
        cst_wake(child);
    }
}

/* Sums the counts of the member and of the members below it in this wave. False: some of them have
 * not published yet. */
static bool sum(const struct cst_seat *seat, uint64_t wave, struct sums *sums) {
    uint32_t end = cst_tree_end(seat->number, seat->size);
    *sums = (struct sums){.made = cst_load_relaxed(&seat->tasks_made),
                          .done = cst_load_relaxed(&seat->tasks_done)};
    for (uint32_t i = cst_tree_first(seat->number); i < end; i++) {
        const struct cst_tally *tally = &cst_team_seat(seat->team, i)->tally;
        /* Pairs with the exchange in take_part: the counts belong to this wave or are newer. */
        if (cst_load_seq_cst(&tally->wave) != wave) return false;
        sums->made += cst_load_relaxed(&tally->made);
        sums->done += cst_load_relaxed(&tally->done);
    }
    return true;
}

/* Called by a member that has found no further task: passes a wave on, and publishes changed counts
 * for its parent. */
static void take_part(struct cst_seat *seat) {
    uint64_t told = cst_load_seq_cst(&seat->told);
    if (told != seat->wave && told >> 32 == seat->barrier) { /* else of an earlier barrier */
        seat->wave = told;
        seat->in_wave = true;
        tell(seat, told);
    }
    struct sums sums;
    struct cst_tally *tally = &seat->tally;
    if (!seat->in_wave || !sum(seat, seat->wave, &sums)) return;
    if (cst_load_relaxed(&tally->wave) == seat->wave &&
        cst_load_relaxed(&tally->made) == sums.made && cst_load_relaxed(&tally->done) == sums.done)
        return;
    cst_store_relaxed(&tally->made, sums.made);
    cst_store_relaxed(&tally->done, sums.done);
    cst_exchange_seq_cst(&tally->wave, seat->wave);
    cst_wake(cst_team_seat(seat->team, cst_tree_parent(seat->number)));
}

/* The root's search for the end. */
struct search {
    struct cst_seat *seat;
    uint64_t wave;
    uint64_t done; /* the sum when the wave began */
    bool over;
};

static bool search_is_over(const struct cst_wait *wait) {
    return ((const struct search *)wait->object)->over;
}

/* If the tasks made, as summed in this wave, equal the tasks completed before the wave began, then
 * no task was outstanding when it began. */
static bool search(struct cst_thread *thread, const struct cst_wait *wait) {
    struct search *search = (struct search *)wait->object;
    struct sums sums;
    bool ran = cst_task_help(thread, wait);
    uint64_t foreign = cst_load_seq_cst(&search->seat->team->foreign_done);
    if (!sum(search->seat, search->wave, &sums)) return ran;
    sums.done += foreign;
    search->over = sums.made == search->done;
    if (search->over) return true;
    if (sums.made != sums.done) return ran;
    search->done = sums.done;
    tell(search->seat, ++search->wave);
    return true;
}

/* --- both ------------------------------------------------------------------------------- */

static void await_all(struct cst_thread *thread, bool by_tree) {
    struct cst_seat *seat = thread->seat;
    if (by_tree) {
        struct search state = {.seat = seat, .wave = FIRST_WAVE(seat->barrier), .done = UINT64_MAX};
        struct cst_wait wait = {.holds = search_is_over, .help = search, .object = &state};
        cst_wait(thread, &wait);
        return;
    }
    struct cst_wait wait = {.holds = all_done_holds, .help = cst_task_help, .object = thread->team};
    while (cst_task_run_any(thread)) continue;
    if (!all_done(thread->team)) cst_wait(thread, &wait);
}

/* Uses the tree unless the region was cancelled: after that the members do not agree on the
 * barrier's number. */
void cst_quiesce_region(struct cst_thread *thread) {
    struct cst_seat *seat = thread->seat;
    bool by_tree = seat->partners > 0 && !cst_region_is_cancelled(thread);
    if (by_tree) tell(seat, FIRST_WAVE(seat->barrier));
    await_all(thread, by_tree);
    cst_happens_after(&thread->team->quiet);
}

bool cst_quiesce_help(struct cst_thread *thread, const struct cst_wait *wait) {
    bool ran = cst_task_help(thread, wait); /* mostly runs tasks until there is none */
    if (thread->seat->partners > 0) take_part(thread->seat);
    return ran;
}

/* Is the barrier complete? A parent that already runs a task after the barrier passes no wave on.
 * So a member also reads `quiet`, which member 0 wrote first, now and then and before it sleeps. */
static bool is_quiet(const struct cst_wait *wait) {
    struct cst_seat *seat = (struct cst_seat *)wait->object;
    uint64_t complete = COMPLETE(seat->barrier);
    if (seat->wave == complete) return true; /* found before; a later look may not read `quiet` */
    /* Relaxed: the last wave has brought the writes of the tasks. */
    bool is_told = seat->partners > 0 && cst_load_relaxed(&seat->told) == complete;
    bool looks = seat->partners == 0 || ++seat->turns % LOOK_ELSEWHERE == 0 ||
                 cst_load_relaxed(&seat->dock.parked);
    if (!is_told && !(looks && cst_reached(&seat->team->quiet, seat->barrier))) return false;
    seat->wave = complete;
    return true;
}

void cst_quiesce(struct cst_thread *thread) {
    struct cst_team *team = thread->team;
    struct cst_seat *seat = thread->seat;
    bool by_tree = seat->partners > 0;
    if (seat->number == 0) {
        await_all(thread, by_tree);
        cst_exchange_seq_cst(&team->quiet, seat->barrier);
        if (cst_team_has_sleepers(team, seat->region)) cst_team_wake(team);
    } else {
        struct cst_wait wait = {.holds = is_quiet, .help = cst_quiesce_help, .object = seat};
        seat->wave = FIRST_WAVE(seat->barrier);
        seat->in_wave = true;
        cst_wait(thread, &wait);
        seat->in_wave = false;
    }
    if (by_tree) tell(seat, COMPLETE(seat->barrier));
}
