/* Doacross loops; see ordered.h.
 *
 * Iterations that one member runs one after the other share a line: the outer iterations of a
 * member (static), of a chunk (dynamic), or a single iteration (guided). The line has the number of
 * the last posted iteration within the whole nest. If that number does not fit 64 bits, the line
 * has a vector under a lock.
 *
 * A post is a release store without a fence. With a fence, each post would wait until the line has
 * come back from the member that polls it. A barrier in the waiter that is about to sleep takes the
 * fence's place (await_asleep). */
#include "core/base/lock.h"
#include "core/base/message.h"
#include "core/work/ordered.h"
#include "core/work/share.h"
#include "core/base/memory.h"
#include "core/wait/wait.h"
#include "platform/happens.h"
#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LOOPS = 64 };

struct line {
    CST_LINE_ALIGNED _Atomic uint64_t posted; /* number of the last iteration, plus 1; 0: none */
    cst_lock lock;                            /* of the vector behind, if numbers do not fit */
};

struct cst_doacross {
    uint32_t loops, members;
    bool fits;                   /* the nest's iterations can be numbered in 64 bits */
    bool by_member;              /* lines: per member, else per `grain` outer iterations */
    uint64_t grain;              /* static with chunks: their size; 0: one block per member */
    uint64_t each, rest, longer; /* blocks: size; longer ones; iterations in the longer */
    _Atomic uint32_t waiters;    /* members that may sleep */
    size_t line_size;
    uint64_t counts[MOST_LOOPS];
    int64_t first[MOST_LOOPS], step[MOST_LOOPS]; /* if values name the iterations */
    struct line *lines;                          /* in the slot's room */
};

static void allocate_lines(struct cst_thread *thread, struct cst_share *share, uint64_t count) {
    struct cst_doacross *state = share->doacross;
    size_t vector = state->fits ? 0 : (size_t)state->loops * sizeof(uint64_t), size;
    state->line_size =
        (sizeof(struct line) + vector + CST_CACHE_LINE - 1) & ~(size_t)(CST_CACHE_LINE - 1);
    if (__builtin_mul_overflow(count, state->line_size, &size))
        cst_memory_exhausted("a doacross loop", SIZE_MAX);
    cst_share_clear(thread, &share->lines, size);
    state->lines = share->lines.start;
}

static bool numbers_fit(const struct cst_doacross_spec *spec) {
    uint64_t product = 1;
    for (uint32_t i = 0; i < spec->count; i++)
        if (__builtin_mul_overflow(product, spec->counts[i], &product)) return false;
    return product < UINT64_MAX;
}

void cst_doacross_set_up(struct cst_thread *thread, struct cst_share *share,
                         const struct cst_doacross_spec *spec) {
    struct cst_doacross *state = share->doacross;
    uint32_t members = thread->team->size;
    if (!state) state = share->doacross = calloc(1, sizeof *state);
    if (!state) cst_memory_exhausted("a doacross loop", sizeof *state);
    if (spec->count > MOST_LOOPS)
        cst_message_fatal("a doacross loop has %u nested loops, and at most %d are supported",
                          spec->count, MOST_LOOPS);
    state->loops = members == 1 ? 0 : spec->count;
    for (uint32_t i = 0; i < spec->count; i++) {
        state->counts[i] = spec->counts[i];
        state->first[i] = spec->first ? spec->first[i] : 0;
        state->step[i] = spec->step ? spec->step[i] : 1;
        if (spec->counts[i] == 0) state->loops = 0; /* no iteration is executed or awaited */
    }
    if (state->loops == 0) return;
    state->members = members;
    state->each = share->trip / members;
    state->rest = share->trip % members;
    state->longer = state->rest * (state->each + 1);
    cst_store_relaxed(&state->waiters, 0);
    state->fits = numbers_fit(spec);
    state->by_member = share->schedule == CST_SCHEDULE_STATIC;
    state->grain = share->schedule == CST_SCHEDULE_GUIDED ? 1 : share->chunk;
    allocate_lines(thread, share,
                   state->by_member ? members : cst_schedule_chunks(share->trip, state->grain));
}

uint32_t cst_doacross_loops(struct cst_thread *thread) {
    return thread->share && thread->doacross ? thread->doacross->loops : 0;
}

/* The member of an iteration is not known here, so each iteration has a line. */
void cst_doacross_begin(struct cst_thread *thread, const struct cst_doacross_spec *spec) {
    struct cst_share *share;
    if (cst_share_enter(thread, &share) || !cst_share_await(thread, share)) {
        share->trip = spec->counts[0];
        share->schedule = CST_SCHEDULE_GUIDED;
        share->chunk = 1;
        share->ordered = false;
        cst_doacross_set_up(thread, share, spec);
        cst_share_publish(thread, share);
    }
    thread->doacross = share->doacross;
    thread->share = NULL;
}

/* A loop within has already left its own slot, if it had one. So the member has been counted as out
 * of this construct for a moment, in which it did not use it. */
void cst_doacross_end(struct cst_thread *thread) {
    thread->doacross = NULL;
    cst_share_leave(thread);
}

bool cst_doacross_number(struct cst_thread *thread, const int64_t *values, uint64_t *vector) {
    const struct cst_doacross *state = thread->doacross;
    if (!state) return false;
    for (uint32_t i = 0; i < state->loops; i++) {
        int64_t step = state->step[i];
        /* Modulo 2^64: the difference of two values of a loop fits. */
        uint64_t distance = (uint64_t)values[i] - (uint64_t)state->first[i];
        bool before = step > 0 ? values[i] < state->first[i] : values[i] > state->first[i];
        vector[i] = step > 0 ? distance / (uint64_t)step : (0 - distance) / (0 - (uint64_t)step);
        if (before || vector[i] >= state->counts[i]) return false;
    }
    return state->loops > 0;
}

/* The member that executes outer iteration i of a static loop without chunks. */
static uint64_t block_owner(const struct cst_doacross *state, uint64_t i) {
    if (i < state->longer) return i / (state->each + 1);
    return state->rest + (i - state->longer) / state->each;
}

static struct line *line_at(const struct cst_doacross *state, uint64_t index) {
    return (struct line *)((char *)state->lines + index * state->line_size);
}

static struct line *line_of(const struct cst_doacross *state, uint64_t i) {
    if (state->by_member && state->grain == 0) return line_at(state, block_owner(state, i));
    uint64_t chunk = state->grain == 1 ? i : i / state->grain;
    return line_at(state, state->by_member ? chunk % state->members : chunk);
}

static uint64_t number_of(const struct cst_doacross *state, const uint64_t *vector) {
    uint64_t number = 0;
    for (uint32_t i = 0; i < state->loops; i++) number = number * state->counts[i] + vector[i];
    return number + 1;
}

static uint64_t *vector_of(struct line *line) {
    return (uint64_t *)(line + 1);
}

static bool not_before(const uint64_t *a, const uint64_t *b, uint32_t loops) {
    for (uint32_t i = 0; i < loops; i++)
        if (a[i] != b[i]) return a[i] > b[i];
    return true;
}

struct sink {
    const struct cst_doacross *state;
    struct line *line;
    const uint64_t *vector;
    uint64_t number;
};

static bool is_posted(const struct cst_wait *wait) {
    const struct sink *sink = wait->object;
    uint64_t posted = cst_load_seq_cst(&sink->line->posted);
    if (sink->state->fits || posted == 0) return posted >= sink->number;
    cst_lock_acquire(&sink->line->lock);
    bool reached = not_before(vector_of(sink->line), sink->vector, sink->state->loops);
    cst_lock_release(&sink->line->lock);
    return reached;
}

void cst_doacross_post(struct cst_thread *thread, const uint64_t *vector) {
    struct cst_doacross *state = thread->doacross;
    struct line *line =
        state->by_member ? line_at(state, thread->number) : line_of(state, vector[0]);
    uint64_t number = 1;
    cst_happens_before(line);
    if (state->fits) {
        number = number_of(state, vector);
        if (number <= cst_load_relaxed(&line->posted)) return; /* posted already */
    } else {
        cst_lock_acquire(&line->lock);
        memcpy(vector_of(line), vector, state->loops * sizeof *vector);
        cst_lock_release(&line->lock);
    }
    /* Both release the writes of the iteration; they pair with is_posted. */
    if (cst_unlikely(thread->seat->crowded))
        cst_exchange_seq_cst(&line->posted, number);
    else
        cst_store_release(&line->posted, number);
    cst_compiler_barrier();
    /* Order of the store and this load: in a crowded team by the exchange, else by the waiter's
     * barrier. */
    if (cst_likely(!cst_load_seq_cst(&state->waiters))) return;
    /* Orders the store above before the load of `parked` (K1, K2): the store may not be visible
     * yet, and the waiter's barrier may be long past. */
    cst_add_seq_cst(&line->posted, 0);
    cst_team_wake(thread->team);
}

static bool help_nobody(struct cst_thread *thread, const struct cst_wait *wait) {
    (void)thread, (void)wait;
    return false;
}

/* The waiter counts itself. Then it runs membarrier(2), since a post has no fence between its store
 * and its load of the count. Either the post's load comes later: it sees the count, and the poster
 * wakes the members that it finds parked. Or the post's store came before, and W2 (park.h) sees it.
 * Members of a crowded team sleep or yield all the time, so their posts have a fence. Without
 * membarrier(2), the wait gets a help function, because sleeps of waits with help have an end
 * (park.c). */
static void await_asleep(struct cst_thread *thread, struct cst_doacross *state,
                         struct cst_wait *wait) {
    cst_add_seq_cst(&state->waiters, 1);
    if (!thread->seat->crowded && !cst_process_barrier()) wait->help = help_nobody;
    cst_wait(thread, wait);
    cst_sub_relaxed(&state->waiters, 1);
}

/* A look that takes the line exclusively, as the poster will. If two members pass iterations to
 * each other in turn, an exclusive line moves faster than a shared one: 109 in place of 189 ns an
 * iteration. It comes only once, since it delays a poster that is still far from the iteration. */
static bool look_hard(const struct sink *sink) {
    return cst_add_acquire(&sink->line->posted, 0) >= sink->number && sink->state->fits;
}

static void await_post(struct cst_thread *thread, struct cst_doacross *state,
                       const struct sink *sink) {
    struct cst_wait wait = {.holds = is_posted, .patient = true, .object = sink};
    if (look_hard(sink) || is_posted(&wait) || cst_wait_briefly(thread, &wait)) return;
    await_asleep(thread, state, &wait);
}

void cst_doacross_wait(struct cst_thread *thread, const uint64_t *vector) {
    struct cst_doacross *state = thread->doacross;
    struct line *line = line_of(state, vector[0]);
    uint64_t number = state->fits ? number_of(state, vector) : 1;
    /* Acquire, as in is_posted. */
    if (!state->fits || cst_load_acquire(&line->posted) < number)
        await_post(thread, state, &(struct sink){state, line, vector, number});
    cst_happens_after(line);
}
