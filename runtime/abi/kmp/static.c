/* Loops whose iterations are divided by arithmetic alone: each member, or each team of a league, is
 * told its part, and no member enters a construct. Clang's calls, decoded. */
#include "abi/kmp/facts.h"
#include "abi/kmp/note.h"
#include "abi/whole.h"
#include "core/front.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): types and names are no expressions */

CST_WHOLE(kmp_static);

/* A loop, or a part of one; both ends are included. Values modulo 2^64, so that one form serves all
 * four types. */
struct part {
    uint64_t lower, upper, step;
    bool up, is_signed;
};

/* Reduces the loop to the block of member `number` of `size`; true if the block ends the loop. A
 * member without iterations gets bounds in the wrong order. */
static bool take_block(struct part *loop, uint64_t trip, uint32_t number, uint32_t size) {
    uint64_t first, end;
    cst_schedule_block(trip, size, number, &first, &end);
    if (first == end) {
        loop->lower = loop->upper + loop->step;
        return false;
    }
    loop->upper = loop->lower + (end - 1) * loop->step;
    loop->lower += first * loop->step;
    return end == trip;
}

/* Reduces the loop to the member's first chunk; true if a chunk of the member ends the loop.
 * Further chunks follow at *stride, and compiled code checks for the loop's end. */
static bool take_chunk(struct part *loop, uint64_t trip, uint32_t number, uint32_t size,
                       uint64_t chunk, uint64_t *stride) {
    uint64_t span = chunk * loop->step;
    *stride = span * size;
    loop->lower += span * number;
    loop->upper = loop->lower + span - loop->step;
    return (trip - 1) / chunk % size == number;
}

static bool is_chunked(int32_t schedule) {
    return schedule == KMP_STATIC_CHUNKED || schedule == KMP_STATIC_BALANCED_CHUNKED ||
           schedule == KMP_DISTRIBUTE_CHUNKED;
}

/* Reduces the loop to a balanced block in whole chunks, for simd loops: a chunk is the number of
 * lanes. True if the block ends the loop. */
static bool take_balanced(struct part *loop, uint64_t trip, uint32_t number, uint32_t size,
                          uint64_t chunk) {
    uint64_t each = (trip / size + (trip % size != 0) + chunk - 1) / chunk * chunk;
    uint64_t first = number * each, end = first + each < trip ? first + each : trip;
    if (first >= trip) {
        loop->lower = loop->upper + loop->step;
        return false;
    }
    loop->upper = loop->lower + (end - 1) * loop->step;
    loop->lower += first * loop->step;
    return end == trip;
}

static int32_t plain_kind(int32_t schedule) {
    schedule &= ~KMP_MODIFIERS;
    if (schedule >= KMP_NOMERGE_FIRST) schedule -= KMP_NOMERGE;
    if (schedule > KMP_RUNTIME_SIMD && schedule < KMP_DISTRIBUTE_CHUNKED) schedule -= KMP_ORDERED;
    return schedule;
}

/* Reduces the loop to a member's part, or, for the schedules of `distribute`, to a team's part.
 * *last: does the part end the loop? */
static void share_out(struct part *loop, int32_t schedule, uint64_t chunk, bool *last,
                      uint64_t *stride) {
    schedule = plain_kind(schedule);
    uint32_t number = cst_ask_number(), size = cst_ask_size();
    if (schedule == KMP_DISTRIBUTE || schedule == KMP_DISTRIBUTE_CHUNKED) {
        struct cst_league league = cst_ask_league();
        number = league.number;
        size = league.size;
    }
    uint64_t trip =
        cst_schedule_trip_closed(loop->lower, loop->upper, loop->step, loop->up, loop->is_signed);
    *last = false;
    *stride = loop->step;
    if (trip == 0) return;
    *stride = trip * loop->step;
    if (chunk == 0) chunk = 1;
    if (size == 1)
        *last = true; /* the whole loop, in one piece */
    else if (schedule == KMP_STATIC_BALANCED_CHUNKED)
        *last = take_balanced(loop, trip, number, size, chunk);
    else if (is_chunked(schedule))
        *last = take_chunk(loop, trip, number, size, chunk, stride);
    else
        *last = take_block(loop, trip, number, size);
}

/* Reduces the loop to a team's part, then to the member's part of that. *team_upper is the end of
 * the team's part. */
static void share_out_twice(struct part *loop, int32_t schedule, uint64_t chunk, bool *last,
                            uint64_t *team_upper, uint64_t *stride) {
    bool team_ends;
    share_out(loop, KMP_DISTRIBUTE, 0, &team_ends, stride);
    *team_upper = loop->upper;
    share_out(loop, schedule, chunk, last, stride);
    *last = *last && team_ends;
}

void __kmpc_for_static_fini(kmp_loc *loc, int32_t thread) {
    (void)loc, (void)thread;
}
void __kmpc_dist_for_static_fini(kmp_loc *loc, int32_t thread) {
    (void)loc, (void)thread;
}

static void tell_last(int32_t *to, bool last) {
    if (to) *to = last;
}

#define STATIC_INIT(suffix, type, step_type, is_signed_type)                                       \
    void __kmpc_for_static_init_##suffix(kmp_loc *loc, int32_t thread, int32_t schedule,           \
                                         int32_t *last, type *lower, type *upper,                  \
                                         step_type *stride, step_type step, step_type chunk) {     \
        (void)thread;                                                                              \
        cst_kmp_note(loc);                                                                         \
        struct part part = {(uint64_t)*lower, (uint64_t)*upper, (uint64_t)(int64_t)step, step > 0, \
                            is_signed_type};                                                       \
        bool ends;                                                                                 \
        uint64_t next;                                                                             \
        share_out(&part, schedule, chunk > 0 ? (uint64_t)chunk : 0, &ends, &next);                 \
        tell_last(last, ends);                                                                     \
        *lower = (type)part.lower;                                                                 \
        *upper = (type)part.upper;                                                                 \
        *stride = (step_type)next;                                                                 \
    }                                                                                              \
    void __kmpc_dist_for_static_init_##suffix(                                                     \
        kmp_loc *loc, int32_t thread, int32_t schedule, int32_t *last, type *lower, type *upper,   \
        type *team_upper, step_type *stride, step_type step, step_type chunk) {                    \
        (void)thread;                                                                              \
        cst_kmp_note(loc);                                                                         \
        struct part part = {(uint64_t)*lower, (uint64_t)*upper, (uint64_t)(int64_t)step, step > 0, \
                            is_signed_type};                                                       \
        bool ends;                                                                                 \
        uint64_t next, team_end;                                                                   \
        share_out_twice(&part, schedule, chunk > 0 ? (uint64_t)chunk : 0, &ends, &team_end,        \
                        &next);                                                                    \
        tell_last(last, ends);                                                                     \
        *lower = (type)part.lower;                                                                 \
        *upper = (type)part.upper;                                                                 \
        *team_upper = (type)team_end;                                                              \
        *stride = (step_type)next;                                                                 \
    }                                                                                              \
    void __kmpc_team_static_init_##suffix(kmp_loc *loc, int32_t thread, int32_t *last,             \
                                          type *lower, type *upper, step_type *stride,             \
                                          step_type step, step_type chunk) {                       \
        type end = *upper;                                                                         \
        __kmpc_for_static_init_##suffix(loc, thread, KMP_DISTRIBUTE_CHUNKED, last, lower, upper,   \
                                        stride, step, chunk);                                      \
        if (step > 0 ? *upper > end || *upper < *lower : *upper < end || *upper > *lower)          \
            *upper = end;                                                                          \
    }

KMP_EACH_TYPE(STATIC_INIT)

/* NOLINTEND(bugprone-macro-parentheses) */
