/* Loops whose members ask for each chunk, sections, doacross nests: clang's calls, decoded. */
#include "abi/kmp/facts.h"
#include "abi/kmp/note.h"
#include "abi/whole.h"
#include "core/front.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): types and names are no expressions */

CST_WHOLE(kmp_loop);

/* --- schedules ----------------------------------------------------------------------------- */

/* Takes the schedule from the program's settings; static if there is none, as with libomp. */
static void set_runtime(struct cst_thread *thread, struct cst_loop_spec *spec) {
    spec->chunk = 0;
    spec->schedule = CST_SCHEDULE_STATIC;
    if (cst_own_icv()->run_sched_given) cst_loop_runtime(thread, spec);
}

/* Makes a block for each member, in whole vectors. The chunk is the length of a vector. */
static void set_balanced(struct cst_loop_spec *spec) {
    uint64_t lanes = spec->chunk ? spec->chunk : 1;
    uint64_t each = cst_schedule_chunks(spec->trip, cst_ask_size());
    spec->schedule = CST_SCHEDULE_STATIC;
    spec->chunk = cst_schedule_chunks(each, lanes) * lanes;
}

/* Takes the schedule from the settings, which count in vectors. The chunk is the length of a
 * vector. */
static void set_runtime_simd(struct cst_thread *thread, struct cst_loop_spec *spec) {
    uint64_t lanes = spec->chunk ? spec->chunk : 1;
    set_runtime(thread, spec);
    if (spec->schedule == CST_SCHEDULE_GUIDED) spec->schedule = CST_SCHEDULE_DYNAMIC;
    if (spec->schedule == CST_SCHEDULE_DYNAMIC || spec->chunk > 0) {
        spec->chunk = (spec->chunk ? spec->chunk : 1) * lanes;
    } else {
        spec->chunk = lanes;
        set_balanced(spec);
    }
}

static void set_schedule(struct cst_thread *thread, struct cst_loop_spec *spec, int32_t schedule) {
    schedule &= ~KMP_MODIFIERS;
    if (schedule >= KMP_NOMERGE_FIRST) schedule -= KMP_NOMERGE;
    spec->ordered = schedule > KMP_RUNTIME_SIMD;
    if (spec->ordered) schedule -= KMP_ORDERED;
    switch (schedule) {
    case KMP_RUNTIME:
        set_runtime(thread, spec);
        break;
    case KMP_RUNTIME_SIMD:
        set_runtime_simd(thread, spec);
        break;
    case KMP_STATIC:
    case KMP_STATIC_GREEDY:
    case KMP_STATIC_BALANCED:
    case KMP_AUTO:
        spec->chunk = 0;
        spec->schedule = CST_SCHEDULE_STATIC;
        break;
    case KMP_STATIC_BALANCED_CHUNKED:
        set_balanced(spec);
        break;
    case KMP_STATIC_CHUNKED:
        if (spec->chunk == 0) spec->chunk = 1;
        spec->schedule = CST_SCHEDULE_STATIC;
        break;
    case KMP_GUIDED:
    case KMP_GUIDED_ITERATIVE:
    case KMP_GUIDED_ANALYTICAL:
    case KMP_TRAPEZOIDAL:
        spec->schedule = CST_SCHEDULE_GUIDED;
        break;
    default: /* also static_steal, and guided_simd, which needs whole vectors */
        spec->schedule = CST_SCHEDULE_DYNAMIC;
    }
}

/* --- init, next, fini ---------------------------------------------------------------------- */

static void start(uint64_t lower, uint64_t upper, int64_t step, bool is_signed, int32_t schedule,
                  int64_t chunk) {
    struct cst_thread *thread = cst_self();
    uint64_t trip = cst_schedule_trip_closed(lower, upper, (uint64_t)step, step > 0, is_signed);
    struct cst_loop_spec spec = {.start = lower,
                                 .end = lower + trip * (uint64_t)step,
                                 .increment = (uint64_t)step,
                                 .chunk = chunk > 0 ? (uint64_t)chunk : 0,
                                 .trip = trip,
                                 .up = step > 0,
                                 .is_signed = is_signed};
    set_schedule(thread, &spec, schedule);
    cst_loop_start(thread, &spec);
    *cst_loop_stride(thread) = (uint64_t)step;
}

/* The member's next chunk, both ends included; false: there is none, and the loop has ended. Then
 * *last is unchanged: compiled code reads it later, to learn whether this member had the last
 * chunk. */
static bool next(int32_t *last, uint64_t *lower, uint64_t *upper, int64_t *stride) {
    struct cst_thread *thread = cst_self();
    uint64_t end;
    if (!cst_loop_next(thread, lower, &end)) {
        cst_loop_end_nowait(thread);
        return false;
    }
    if (last) *last = cst_loop_ends_at(thread, end);
    *stride = (int64_t)*cst_loop_stride(thread);
    *upper = end - (uint64_t)*stride;
    return true;
}

#define DISPATCH(suffix, type, step_type, is_signed_type)                                          \
    void __kmpc_dispatch_init_##suffix(kmp_loc *loc, int32_t thread, int32_t schedule, type lower, \
                                       type upper, step_type step, step_type chunk) {              \
        (void)thread;                                                                              \
        cst_kmp_note(loc);                                                                         \
        start((uint64_t)lower, (uint64_t)upper, step, is_signed_type, schedule, chunk);            \
    }                                                                                              \
    void __kmpc_dist_dispatch_init_##suffix(kmp_loc *loc, int32_t thread, int32_t schedule,        \
                                            int32_t *last, type lower, type upper, step_type step, \
                                            step_type chunk) {                                     \
        step_type unused;                                                                          \
        __kmpc_for_static_init_##suffix(loc, thread, KMP_DISTRIBUTE, last, &lower, &upper,         \
                                        &unused, step, 0);                                         \
        __kmpc_dispatch_init_##suffix(loc, thread, schedule, lower, upper, step, chunk);           \
    }                                                                                              \
    int __kmpc_dispatch_next_##suffix(kmp_loc *loc, int32_t thread, int32_t *last, type *lower,    \
                                      type *upper, step_type *stride) {                            \
        (void)loc, (void)thread;                                                                   \
        uint64_t from, to;                                                                         \
        int64_t step;                                                                              \
        if (!next(last, &from, &to, &step)) return 0;                                              \
        *lower = (type)from;                                                                       \
        *upper = (type)to;                                                                         \
        if (stride) *stride = (step_type)step;                                                     \
        return 1;                                                                                  \
    }                                                                                              \
    /* Called at the end of an ordered loop's iteration. core/work/ordered.c counts iterations     \
     * itself. */                                                                                  \
    void __kmpc_dispatch_fini_##suffix(kmp_loc *loc, int32_t thread) {                             \
        (void)loc, (void)thread;                                                                   \
    }

KMP_EACH_TYPE(DISPATCH)

void __kmpc_dispatch_deinit(kmp_loc *loc, int32_t thread) {
    (void)loc, (void)thread;
}

/* --- sections ------------------------------------------------------------------------------ */

/* The number of sections comes with each call of __kmpc_next_section. */
void __kmpc_sections_init(kmp_loc *loc, int32_t thread) {
    (void)thread;
    cst_kmp_note(loc);
    cst_sections_start(cst_self(), INT32_MAX - 1, &(struct cst_loop_extras){0});
}

int32_t __kmpc_next_section(kmp_loc *loc, int32_t thread, int32_t count) {
    (void)loc, (void)thread;
    uint32_t next = cst_sections_next(cst_self());
    return next == 0 || next > (uint32_t)count ? count : (int32_t)next - 1;
}

void __kmpc_end_sections(kmp_loc *loc, int32_t thread) {
    (void)loc, (void)thread;
    cst_loop_end_nowait(cst_self());
}

/* --- doacross ------------------------------------------------------------------------------ */

enum { MOST_LOOPS = 64 };

void __kmpc_doacross_init(kmp_loc *loc, int32_t thread, int32_t count,
                          const struct kmp_loop *loops) {
    (void)thread;
    cst_kmp_note(loc);
    uint64_t counts[MOST_LOOPS];
    int64_t first[MOST_LOOPS], step[MOST_LOOPS];
    for (int32_t i = 0; i < count && i < MOST_LOOPS; i++) {
        const struct kmp_loop *loop = &loops[i];
        first[i] = loop->low;
        step[i] = loop->step ? loop->step : 1;
        counts[i] = cst_schedule_trip_closed((uint64_t)loop->low, (uint64_t)loop->high,
                                             (uint64_t)step[i], step[i] > 0, true);
    }
    struct cst_doacross_spec spec = {
        .count = (uint32_t)count, .counts = counts, .first = first, .step = step};
    cst_doacross_begin(cst_self(), &spec);
}

void __kmpc_doacross_post(kmp_loc *loc, int32_t number, const int64_t *values) {
    (void)loc, (void)number;
    struct cst_thread *thread = cst_self();
    uint64_t vector[MOST_LOOPS];
    if (cst_doacross_number(thread, values, vector)) cst_doacross_post(thread, vector);
}

/* Does not wait for an iteration outside of the nest. */
void __kmpc_doacross_wait(kmp_loc *loc, int32_t number, const int64_t *values) {
    (void)loc, (void)number;
    struct cst_thread *thread = cst_self();
    uint64_t vector[MOST_LOOPS];
    if (cst_doacross_number(thread, values, vector)) cst_doacross_wait(thread, vector);
}

void __kmpc_doacross_fini(kmp_loc *loc, int32_t thread) {
    (void)loc, (void)thread;
    cst_doacross_end(cst_self());
}

/* NOLINTEND(bugprone-macro-parentheses) */
