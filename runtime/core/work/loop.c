/* Loops and sections; see loop.h.
 *
 * Dynamic and guided loops take iterations from one shared counter, always upwards, so each member
 * sees increasing iterations. Programs such as superlu_dist's look-ahead rely on it, although
 * schedule(dynamic) has not promised it since OpenMP 5.0. A range for each member, with stealing,
 * would break them.
 *
 * The counter's line does not become the bottleneck, because a member claims several short chunks
 * at once, of about CLAIM_TICKS together. It hands them out to itself without an atomic operation.
 * In a large team there is a tree of counters (dispatch.h). An iteration that waits for a later one
 * would wait for ever if both are in one claim; OpenMP does not promise that it would not. Some
 * programs do it on libgomp, whose members claim single chunks, so CAPSTAN_BATCHES=false does so.
 */
#include "core/work/loop.h"

#include "core/work/barrier.h"
#include "core/work/dispatch.h"
#include "core/work/ordered.h"
#include "core/work/reduce.h"
#include "core/work/share.h"
#include "platform/platform.h"

enum {
    CLAIM_TICKS = 1000,   /* work that a claim should cover, for each member of the team */
    LARGEST_CLAIM = 1024, /* chunks */
    FEW_CHUNKS = 8,       /* for each member: up to this, chunks are claimed one by one */
    PARTS = 4             /* a claim is at most 1/PARTS of an equal share of the rest, or short */
};

void cst_loop_runtime(struct cst_thread *thread, struct cst_loop_spec *spec) {
    const struct cst_icv *icv = &thread->task->icv;
    spec->schedule = icv->run_sched_kind;
    spec->chunk = icv->run_sched_chunk > 0 ? (uint64_t)icv->run_sched_chunk : 0;
}

/* --- the shared part -------------------------------------------------------------------- */

static bool counts_on(uint64_t trip, uint64_t chunk) {
    return trip < UINT64_MAX / 2 && chunk < UINT32_MAX;
}

bool cst_loop_is_batched(const struct cst_loop_spec *spec, uint64_t trip, uint32_t size) {
    uint64_t chunk = spec->chunk ? spec->chunk : 1;
    return cst_config.batches && spec->schedule == CST_SCHEDULE_DYNAMIC && !spec->ordered &&
           !spec->sections && counts_on(trip, chunk) && trip / chunk > FEW_CHUNKS * (uint64_t)size;
}

static void set_up(struct cst_share *share, const struct cst_loop_spec *spec, uint32_t size) {
    share->start = spec->start;
    share->end = spec->end;
    share->increment = spec->increment;
    share->trip = cst_loop_trip(spec);
    share->schedule = spec->schedule == CST_SCHEDULE_AUTO ? CST_SCHEDULE_STATIC : spec->schedule;
    share->chunk = spec->chunk;
    if (size == 1 && !spec->sections) {
        /* A member alone gets all iterations in one chunk. */
        share->schedule = CST_SCHEDULE_STATIC;
        share->chunk = 0;
    }
    if (share->chunk == 0 && share->schedule != CST_SCHEDULE_STATIC) share->chunk = 1;
    share->ordered = spec->ordered;
    share->counts_on = counts_on(share->trip, share->chunk);
    share->batching = size > 1 && cst_loop_is_batched(spec, share->trip, size)
                          ? CST_BATCHING_COUNTER
                          : CST_BATCHING_NOT;
    cst_store_relaxed(&share->next, 0);
    cst_store_relaxed(&share->turn, 0);
}

/* Begins the member's own part. It copies the constant fields, so that a claim need not read the
 * slot's line. A read before the claim would fetch the line twice, to read and to write; after the
 * claim, the next claimant may have taken it. */
static void begin(struct cst_thread *thread) {
    struct cst_loop *loop = &thread->loop;
    struct cst_share *share = thread->share;
    loop->schedule = share->schedule;
    loop->batching = share->batching;
    loop->counts_on = share->counts_on;
    loop->ordered = share->ordered;
    loop->trip = share->trip;
    loop->chunk = share->chunk;
    loop->start = share->start;
    loop->increment = share->increment;
    loop->left = 0;
    loop->step = share->chunk * share->increment;
    loop->has_end = false;
    loop->first = loop->last = 0;
    loop->trips = 0;
    loop->batch = 0;
}

void cst_loop_start_with(struct cst_thread *thread, const struct cst_loop_spec *spec,
                         struct cst_loop_extras *extras) {
    struct cst_team *team = thread->team;
    struct cst_share *share;
    if (cst_unlikely(cst_team_is_large(team->size, team->crowded)) && !extras->reductions &&
        !extras->wants_memory && !extras->doacross && cst_dispatch_start(thread, spec))
        return;
    if (extras->reductions) cst_reduce_begin_construct(thread);
    if (cst_share_enter(thread, &share) || !cst_share_await(thread, share)) {
        set_up(share, spec, team->size);
        if (extras->doacross) {
            share->batching = CST_BATCHING_NOT; /* one by one, as iterations wait for each other */
            cst_doacross_set_up(thread, share, extras->doacross);
        }
        if (extras->wants_memory) cst_share_clear(thread, &share->memory, extras->memory_bytes);
        if (extras->reductions) cst_reduce_register_shared(thread, share, extras->reductions, true);
        cst_share_publish(thread, share);
    } else if (extras->reductions) {
        cst_reduce_register_shared(thread, share, extras->reductions, false);
    }
    if (extras->wants_memory) extras->memory = share->memory.start;
    if (extras->doacross) thread->doacross = share->doacross;
    begin(thread);
}

void cst_loop_start(struct cst_thread *thread, const struct cst_loop_spec *spec) {
    static struct cst_loop_extras none; /* never written */
    cst_loop_start_with(thread, spec, &none);
}

enum cst_combined cst_loop_prepare(struct cst_team *team, const struct cst_loop_spec *spec) {
    if (cst_unlikely(cst_team_is_large(team->size, team->crowded)) &&
        cst_dispatch_prepare(team, spec))
        return CST_COMBINED_TREE;
    uint64_t construct = team->first.construct;
    struct cst_share *share = &team->ring[construct % CST_SHARE_RING];
    set_up(share, spec, team->size);
    cst_store_relaxed(&share->claim, 2 * (construct + 1));
    cst_store_relaxed(&share->ready, construct + 1); /* fork publishes */
    return CST_COMBINED_RING;
}

void cst_loop_join(struct cst_thread *thread, enum cst_combined combined) {
    if (cst_unlikely(combined == CST_COMBINED_TREE)) {
        cst_dispatch_join(thread);
        return;
    }
    struct cst_seat *seat = thread->seat;
    uint64_t construct = seat->construct++;
    thread->share = &seat->team->ring[construct % CST_SHARE_RING];
    thread->loop.tag = construct + 1;
    begin(thread);
}

/* --- dynamic, in batches ------------------------------------------------------------------- */

/* The number of chunks for the next claim: their work should last CLAIM_TICKS times the number of
 * claimants. So the time between claims does not depend on the number of claimants. The duration of
 * the last batch excludes its claim, which may have waited for other claims. `share` is an equal
 * share of the chunks that are left. */
static uint32_t batch_size(struct cst_loop *loop, uint32_t claimants, uint64_t share) {
    uint64_t spent = cst_clock_ticks() - loop->claimed_at;
    uint64_t wanted = (uint64_t)CLAIM_TICKS * claimants;
    uint64_t least = (uint64_t)loop->batch * CLAIM_TICKS / (spent + 1);
    if (loop->batch == 0)
        loop->batch = 1;
    else if (spent < wanted / 2 && loop->batch < LARGEST_CLAIM)
        loop->batch *= spent < wanted / 4 ? 4 : 2;
    else if (spent > wanted && loop->batch > 1)
        loop->batch = spent > 4 * wanted ? 1 : loop->batch / 2;
    uint64_t most = share / PARTS;
    /* Also near the end, a claim should last longer than a fetch of the counter. */
    if (most < least) most = least < share ? least : share;
    if (loop->batch > most) loop->batch = most > 0 ? (uint32_t)most : 1;
    return loop->batch;
}

/* Claims chunks from the tree. They tell a member of a combined loop the loop's bounds. */
static bool claim_from_tree(struct cst_thread *thread, uint64_t *next, uint64_t *batch) {
    struct cst_loop *loop = &thread->loop;
    struct cst_piece piece = cst_dispatch_claim(thread, *batch);
    *next = piece.next;
    *batch = loop->batch = (uint32_t)(piece.limit - piece.next);
    loop->trip = piece.chunks;
    loop->start = piece.start;
    loop->increment = loop->step = piece.step;
    loop->end = piece.end;
    return loop->batch > 0;
}

/* Claims a batch for cst_loop_next to hand out. The loop's last chunk, whose end differs, is kept
 * apart. False: no iterations are left. */
static bool claim(struct cst_thread *thread) {
    struct cst_loop *loop = &thread->loop;
    uint32_t size = thread->team->size;
    bool by_tree = loop->batching == CST_BATCHING_TREE;
    uint64_t next, share = cst_schedule_chunks(loop->trip - loop->last, loop->chunk) / size;
    uint64_t batch = batch_size(loop, by_tree ? CST_TREE_ARITY + 1 : size, share);
    if (cst_unlikely(by_tree)) {
        if (!claim_from_tree(thread, &next, &batch)) return false;
    } else {
        next = cst_add_relaxed(&thread->share->next, batch * loop->chunk);
        if (next >= loop->trip) return false;
    }
    loop->claimed_at = cst_clock_ticks();
    uint64_t chunks = cst_schedule_chunks(loop->trip - next, loop->chunk);
    loop->has_end = chunks <= batch;
    loop->left = (uint32_t)(loop->has_end ? chunks - 1 : batch);
    loop->value = loop->start + next * loop->increment;
    loop->last = loop->has_end ? loop->trip : next + batch * loop->chunk;
    return true;
}

/* Continues after the end of a batch: with the loop's last chunk, or with the next batch. */
static bool next_batch(struct cst_thread *thread, uint64_t *first, uint64_t *last) {
    struct cst_loop *loop = &thread->loop;
    if (!loop->has_end && !claim(thread)) return false;
    if (loop->left > 0) return cst_loop_next(thread, first, last);
    loop->has_end = false;
    *first = loop->value;
    *last = cst_likely(thread->share != NULL) ? thread->share->end : loop->end;
    return true;
}

/* --- chunk by chunk ---------------------------------------------------------------- */

static bool next_dynamic(struct cst_thread *thread, uint64_t *first, uint64_t *last) {
    struct cst_share *share = thread->share;
    uint64_t next, trip = thread->loop.trip, chunk = thread->loop.chunk;
    if (thread->loop.counts_on) {
        next = cst_add_relaxed(&share->next, chunk);
        if (next >= trip) return false;
    } else {
        next = cst_load_relaxed(&share->next);
        do {
            if (next >= trip) return false;
        } while (!cst_cas_relaxed(&share->next, &next, trip - next < chunk ? trip : next + chunk));
    }
    *first = next;
    *last = trip - next < chunk ? trip : next + chunk;
    return true;
}

static bool next_guided(struct cst_thread *thread, uint64_t *first, uint64_t *last) {
    struct cst_loop *loop = &thread->loop;
    uint32_t size = thread->team->size;
    uint64_t next = cst_load_relaxed(&thread->share->next);
    do {
        if (next >= loop->trip) return false;
        *last = next + cst_schedule_guided(loop->trip - next, loop->chunk, size);
    } while (!cst_cas_relaxed(&thread->share->next, &next, *last));
    *first = next;
    return true;
}

static bool next_static(struct cst_thread *thread, uint64_t *first, uint64_t *last) {
    struct cst_loop *loop = &thread->loop;
    uint32_t size = thread->team->size;
    uint64_t trip = loop->trips++;
    if (loop->chunk == 0) {
        if (trip > 0) return false;
        cst_schedule_block(loop->trip, size, thread->number, first, last);
        return *first < *last;
    }
    uint64_t chunk = trip * size + thread->number;
    if (chunk >= cst_schedule_chunks(loop->trip, loop->chunk)) return false;
    *first = chunk * loop->chunk;
    uint64_t left = loop->trip - *first;
    *last = *first + (left < loop->chunk ? left : loop->chunk);
    return true;
}

bool cst_loop_next_slow(struct cst_thread *thread, uint64_t *first, uint64_t *last) {
    struct cst_loop *loop = &thread->loop;
    uint64_t from, to;
    bool found;
    if (cst_unlikely(loop->ordered)) cst_ordered_pass(thread);
    if (loop->batching) return next_batch(thread, first, last);
    if (loop->schedule == CST_SCHEDULE_STATIC)
        found = next_static(thread, &from, &to);
    else if (loop->schedule == CST_SCHEDULE_GUIDED)
        found = next_guided(thread, &from, &to);
    else
        found = next_dynamic(thread, &from, &to);
    if (!found) return false;
    loop->first = from;
    loop->last = to;
    loop->ordered_ends = 0;
    *first = loop->start + from * loop->increment;
    /* The compiler compares with the loop's own end, which a whole chunk could step over. */
    *last = to == loop->trip ? thread->share->end : loop->start + to * loop->increment;
    return true;
}

/* --- the end ---------------------------------------------------------------------------- */

static void leave(struct cst_thread *thread) {
    if (thread->share && thread->share->ordered) cst_ordered_pass(thread);
    cst_share_leave(thread);
}

void cst_loop_end(struct cst_thread *thread) {
    leave(thread);
    cst_barrier(thread);
}

void cst_loop_end_nowait(struct cst_thread *thread) {
    leave(thread);
}

bool cst_loop_end_cancellable(struct cst_thread *thread) {
    leave(thread);
    return cst_barrier_cancellable(thread);
}

/* --- sections --------------------------------------------------------------------------- */

static struct cst_loop_spec sections_spec(uint32_t count) {
    return (struct cst_loop_spec){.start = 1,
                                  .end = (uint64_t)count + 1,
                                  .increment = 1,
                                  .chunk = 1,
                                  .schedule = CST_SCHEDULE_DYNAMIC,
                                  .up = true,
                                  .sections = true};
}

void cst_sections_start(struct cst_thread *thread, uint32_t count, struct cst_loop_extras *extras) {
    struct cst_loop_spec spec = sections_spec(count);
    cst_loop_start_with(thread, &spec, extras);
}

void cst_sections_prepare(struct cst_team *team, uint32_t count) {
    struct cst_loop_spec spec = sections_spec(count);
    cst_loop_prepare(team, &spec);
}

uint32_t cst_sections_next(struct cst_thread *thread) {
    uint64_t first, last;
    return cst_loop_next(thread, &first, &last) ? (uint32_t)first : 0;
}
