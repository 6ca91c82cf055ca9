/* The end of a barrier or region that has tasks: every member has arrived, and goes on when all
 * tasks are complete. See README.md, "The end of a barrier".
 *
 * In a small team member 0 reads everybody's counts. In a large one the counts are summed up the
 * tree of the fork: each member tells its parent what it and those below it have counted, and tells
 * again when that has changed and it has nothing to do. When the sums at the root agree they may be
 * of different times, so the root asks once more, by a wave down the tree and up again. */
#include "core/task/quiesce.h"

#include "core/task/cancel.h"
#include "core/task/task.h"
#include "core/wait/wait.h"
#include "platform/happens.h"

/* A wave is a barrier's number and the number of the attempt. */
#define FIRST_WAVE(barrier) ((uint64_t)(barrier) << 32 | 1)
#define COMPLETE(barrier) ((uint64_t)(barrier) << 32 | UINT32_MAX)

enum {
    LOOK_ELSEWHERE =
        512 /* turns of waiting after which a member does not rely on its parent alone */
};

struct sums {
    uint64_t made, done;
};

/* --- a small team ----------------------------------------------------------------------- */

/* Are all deferred tasks of the team complete? Asked when every member has arrived, so that only
 * tasks make tasks. The counts only grow. What was done is summed first: if it then equals what
 * was made, which was read later, then at the moment between the two nothing was outstanding.
 * Relaxed is enough for what was made: of a task that was done, that is seen too. */
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

/* Tells the children of a member. */
static void tell(struct cst_seat *seat, uint64_t wave) {
    uint32_t end = cst_tree_end(seat->number, seat->size);
    for (uint32_t i = cst_tree_first(seat->number); i < end; i++) {
        struct cst_seat *child = cst_team_seat(seat->team, i);
        cst_exchange_seq_cst(&child->told, wave);
        cst_wake(child);
    }
}

/* What the member has counted, and those below it in this wave. False: some have not told yet. */
static bool sum(const struct cst_seat *seat, uint64_t wave, struct sums *sums) {
    uint32_t end = cst_tree_end(seat->number, seat->size);
    *sums = (struct sums){.made = cst_load_relaxed(&seat->tasks_made),
                          .done = cst_load_relaxed(&seat->tasks_done)};
    for (uint32_t i = cst_tree_first(seat->number); i < end; i++) {
        const struct cst_tally *tally = &cst_team_seat(seat->team, i)->tally;
        /* Pairs with the exchange in take_part: the counts are as new, or newer. */
        if (cst_load_seq_cst(&tally->wave) != wave) return false;
        sums->made += cst_load_relaxed(&tally->made);
        sums->done += cst_load_relaxed(&tally->done);
    }
    return true;
}

/* A member that has run what it has found: passes a wave on, and tells its parent what has changed.
 */
static void take_part(struct cst_seat *seat) {
    uint64_t told = cst_load_seq_cst(&seat->told);
    if (told != seat->wave && told >> 32 == seat->barrier) { /* else of a barrier that is over */
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

/* If what was made, as summed in this wave, is what was done before it began, nothing was
 * outstanding when it began. */
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

/* After a cancelled region the members do not agree on the barrier's number. */
void cst_quiesce_region(struct cst_thread *thread) {
    struct cst_seat *seat = thread->seat;
    bool by_tree = seat->partners > 0 && !cst_region_is_cancelled(thread);
    if (by_tree) tell(seat, FIRST_WAVE(seat->barrier));
    await_all(thread, by_tree);
    cst_happens_after(&thread->team->quiet);
}

bool cst_quiesce_help(struct cst_thread *thread, const struct cst_wait *wait) {
    bool ran = cst_task_help(thread, wait); /* until there is none, mostly */
    if (thread->seat->partners > 0) take_part(thread->seat);
    return ran;
}

/* A parent that is in the middle of a task of the next barrier passes nothing on, so a member also
 * looks for itself at what member 0 wrote first: now and then, and before it sleeps. */
static bool is_quiet(const struct cst_wait *wait) {
    struct cst_seat *seat = (struct cst_seat *)wait->object;
    uint64_t complete = COMPLETE(seat->barrier);
    if (seat->wave == complete) return true; /* also if it is not about to sleep any more */
    /* Relaxed: the last wave has brought what the tasks wrote. */
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
