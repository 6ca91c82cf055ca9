/* Loops over long: GCC's calls, decoded. loop_ull.c is the same for unsigned long long. */
#include "abi/gomp/loop.h"

#include "abi/gomp/reduce.h"
#include "abi/omp/both.h"
#include "abi/whole.h"
#include "core/front.h"
#include "platform/platform.h"

CST_WHOLE(gomp_loop);

static struct cst_loop_spec spec_of(long start, long end, long step, uint8_t schedule, long chunk,
                                    bool ordered) {
    return (struct cst_loop_spec){.start = (uint64_t)start,
                                  .end = (uint64_t)end,
                                  .increment = (uint64_t)step,
                                  .chunk = chunk > 0 ? (uint64_t)chunk : 0,
                                  .schedule = schedule,
                                  .up = step > 0,
                                  .is_signed = true,
                                  .ordered = ordered};
}

static bool next(long *first, long *last) {
    uint64_t from, to;
    if (!cst_loop_next(cst_self(), &from, &to)) return false;
    *first = (long)from;
    *last = (long)to;
    return true;
}

/* --- start and next, by schedule ---------------------------------------------------------- */

#define LOOP(name, schedule, ordered)                                                              \
    CST_ENTRY(CST_FRONT_GOMP, bool, GOMP_loop_##name##_start,                                      \
              (long start, long end, long step, long chunk, long *first, long *last),              \
              (start, end, step, chunk, first, last)) {                                            \
        struct cst_loop_spec spec = spec_of(start, end, step, schedule, chunk, ordered);           \
        cst_loop_start(cst_self(), &spec);                                                         \
        return next(first, last);                                                                  \
    }                                                                                              \
    bool GOMP_loop_##name##_next(long *first, long *last) {                                        \
        return next(first, last);                                                                  \
    }

#define RUNTIME_LOOP(name, ordered)                                                                \
    CST_ENTRY(CST_FRONT_GOMP, bool, GOMP_loop_##name##_start,                                      \
              (long start, long end, long step, long *first, long *last),                          \
              (start, end, step, first, last)) {                                                   \
        struct cst_thread *thread = cst_self();                                                    \
        struct cst_loop_spec spec = spec_of(start, end, step, GOMP_SCHEDULE_RUNTIME, 0, ordered);  \
        cst_loop_runtime(thread, &spec);                                                           \
        cst_loop_start(thread, &spec);                                                             \
        return next(first, last);                                                                  \
    }                                                                                              \
    bool GOMP_loop_##name##_next(long *first, long *last) {                                        \
        return next(first, last);                                                                  \
    }

EACH_LOOP(LOOP, RUNTIME_LOOP)

/* --- start with reductions or shared memory ------------------------------------------------ */

static bool start(bool ordered, long begin, long end, long step, long schedule, long chunk,
                  long *first, long *last, struct gomp_extras *extras) {
    struct cst_thread *thread = cst_self();
    struct cst_loop_spec spec = spec_of(begin, end, step, 0, 0, ordered);
    cst_gomp_set_schedule(thread, &spec, schedule, chunk > 0 ? (uint64_t)chunk : 0);
    cst_loop_start_with(thread, &spec, &extras->core);
    cst_gomp_extras_tell(extras);
    /* Without `first` the compiler shares the iterations out itself. */
    return first ? next(first, last) : true;
}

CST_ENTRY(CST_FRONT_GOMP, bool, GOMP_loop_start,
          (long begin, long end, long step, long schedule, long chunk, long *first, long *last,
           uintptr_t *reductions, void **memory),
          (begin, end, step, schedule, chunk, first, last, reductions, memory)) {
    struct gomp_extras extras = cst_gomp_extras(reductions, memory);
    return start(false, begin, end, step, schedule, chunk, first, last, &extras);
}

CST_ENTRY(CST_FRONT_GOMP, bool, GOMP_loop_ordered_start,
          (long begin, long end, long step, long schedule, long chunk, long *first, long *last,
           uintptr_t *reductions, void **memory),
          (begin, end, step, schedule, chunk, first, last, reductions, memory)) {
    struct gomp_extras extras = cst_gomp_extras(reductions, memory);
    return start(true, begin, end, step, schedule, chunk, first, last, &extras);
}

/* --- doacross ------------------------------------------------------------------------------ */

CST_ENTRY(CST_FRONT_GOMP, bool, GOMP_loop_doacross_start,
          (unsigned loops, long *counts, long schedule, long chunk, long *first, long *last,
           uintptr_t *reductions, void **memory),
          (loops, counts, schedule, chunk, first, last, reductions, memory)) {
    struct cst_doacross_spec nest = {.count = loops, .counts = (uint64_t *)counts};
    struct gomp_extras extras = cst_gomp_extras(reductions, memory);
    extras.core.doacross = &nest;
    return start(false, 0, counts[0], 1, schedule, chunk, first, last, &extras);
}

bool GOMP_loop_doacross_static_start(unsigned loops, long *counts, long chunk, long *first,
                                     long *last) {
    return GOMP_loop_doacross_start(loops, counts, GOMP_SCHEDULE_STATIC, chunk, first, last, NULL,
                                    NULL);
}

bool GOMP_loop_doacross_dynamic_start(unsigned loops, long *counts, long chunk, long *first,
                                      long *last) {
    return GOMP_loop_doacross_start(loops, counts, GOMP_SCHEDULE_DYNAMIC, chunk, first, last, NULL,
                                    NULL);
}

bool GOMP_loop_doacross_guided_start(unsigned loops, long *counts, long chunk, long *first,
                                     long *last) {
    return GOMP_loop_doacross_start(loops, counts, GOMP_SCHEDULE_GUIDED, chunk, first, last, NULL,
                                    NULL);
}

bool GOMP_loop_doacross_runtime_start(unsigned loops, long *counts, long *first, long *last) {
    return GOMP_loop_doacross_start(loops, counts, GOMP_SCHEDULE_RUNTIME, 0, first, last, NULL,
                                    NULL);
}

/* --- parallel loops ------------------------------------------------------------------------ */

static void begin(gomp_body *body, void *data, unsigned threads, unsigned flags,
                  struct cst_loop_spec spec) {
    struct cst_thread *thread = cst_self();
    if (spec.schedule == GOMP_SCHEDULE_RUNTIME) cst_loop_runtime(thread, &spec);
    struct cst_region region = {.front = CST_FRONT_GOMP,
                                .function = body,
                                .data = data,
                                .threads = threads,
                                .bind = flags & GOMP_PARALLEL_BIND_MASK};
    struct cst_team *team = cst_region_begin(thread, &region);
    region.combined = cst_loop_prepare(team, &spec);
    cst_region_launch(thread, team, &region);
}

#define PARALLEL_LOOP(name, schedule)                                                              \
    CST_ENTRY(CST_FRONT_GOMP, void, GOMP_parallel_loop_##name,                                     \
              (gomp_body * body, void *data, unsigned threads, long start, long end, long step,    \
               long chunk, unsigned flags),                                                        \
              (body, data, threads, start, end, step, chunk, flags)) {                             \
        CST_KEEP_FRAME();                                                                          \
        begin(body, data, threads, flags, spec_of(start, end, step, schedule, chunk, false));      \
        body(data);                                                                                \
        cst_region_end(cst_self());                                                                \
    }

#define PARALLEL_RUNTIME_LOOP(name)                                                                \
    CST_ENTRY(CST_FRONT_GOMP, void, GOMP_parallel_loop_##name,                                     \
              (gomp_body * body, void *data, unsigned threads, long start, long end, long step,    \
               unsigned flags),                                                                    \
              (body, data, threads, start, end, step, flags)) {                                    \
        CST_KEEP_FRAME();                                                                          \
        begin(body, data, threads, flags,                                                          \
              spec_of(start, end, step, GOMP_SCHEDULE_RUNTIME, 0, false));                         \
        body(data);                                                                                \
        cst_region_end(cst_self());                                                                \
    }

PARALLEL_LOOP(static, CST_SCHEDULE_STATIC)
PARALLEL_LOOP(dynamic, CST_SCHEDULE_DYNAMIC)
PARALLEL_LOOP(guided, CST_SCHEDULE_GUIDED)
PARALLEL_LOOP(nonmonotonic_dynamic, CST_SCHEDULE_DYNAMIC)
PARALLEL_LOOP(nonmonotonic_guided, CST_SCHEDULE_GUIDED)
PARALLEL_RUNTIME_LOOP(runtime)
PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime)
PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime)

/* The calls of GCC before 4.9, closed by GOMP_parallel_end. */

#define OLD_PARALLEL_LOOP(name, schedule)                                                          \
    void GOMP_parallel_loop_##name##_start(gomp_body *body, void *data, unsigned threads,          \
                                           long start, long end, long step, long chunk) {          \
        begin(body, data, threads, 0, spec_of(start, end, step, schedule, chunk, false));          \
    }

OLD_PARALLEL_LOOP(static, CST_SCHEDULE_STATIC)
OLD_PARALLEL_LOOP(dynamic, CST_SCHEDULE_DYNAMIC)
OLD_PARALLEL_LOOP(guided, CST_SCHEDULE_GUIDED)

void GOMP_parallel_loop_runtime_start(gomp_body *body, void *data, unsigned threads, long start,
                                      long end, long step) {
    begin(body, data, threads, 0, spec_of(start, end, step, GOMP_SCHEDULE_RUNTIME, 0, false));
}

/* --- the end -------------------------------------------------------------------------------- */

void GOMP_loop_end(void) {
    cst_loop_end(cst_self());
}
void GOMP_loop_end_nowait(void) {
    cst_loop_end_nowait(cst_self());
}
bool GOMP_loop_end_cancel(void) {
    return cst_loop_end_cancellable(cst_self());
}

/* --- objects of GCC that clang links --------------------------------------------------------- */

CST_FOR_BOTH(GOMP_loop_doacross_dynamic_start);
CST_FOR_BOTH(GOMP_loop_doacross_guided_start);
CST_FOR_BOTH(GOMP_loop_doacross_runtime_start);
CST_FOR_BOTH(GOMP_loop_doacross_start);
CST_FOR_BOTH(GOMP_loop_doacross_static_start);
CST_FOR_BOTH(GOMP_loop_dynamic_next);
CST_FOR_BOTH(GOMP_loop_dynamic_start);
CST_FOR_BOTH(GOMP_loop_end);
CST_FOR_BOTH(GOMP_loop_end_cancel);
CST_FOR_BOTH(GOMP_loop_end_nowait);
CST_FOR_BOTH(GOMP_loop_guided_next);
CST_FOR_BOTH(GOMP_loop_guided_start);
CST_FOR_BOTH(GOMP_loop_maybe_nonmonotonic_runtime_next);
CST_FOR_BOTH(GOMP_loop_maybe_nonmonotonic_runtime_start);
CST_FOR_BOTH(GOMP_loop_nonmonotonic_dynamic_next);
CST_FOR_BOTH(GOMP_loop_nonmonotonic_dynamic_start);
CST_FOR_BOTH(GOMP_loop_nonmonotonic_guided_next);
CST_FOR_BOTH(GOMP_loop_nonmonotonic_guided_start);
CST_FOR_BOTH(GOMP_loop_nonmonotonic_runtime_next);
CST_FOR_BOTH(GOMP_loop_nonmonotonic_runtime_start);
CST_FOR_BOTH(GOMP_loop_ordered_dynamic_next);
CST_FOR_BOTH(GOMP_loop_ordered_dynamic_start);
CST_FOR_BOTH(GOMP_loop_ordered_guided_next);
CST_FOR_BOTH(GOMP_loop_ordered_guided_start);
CST_FOR_BOTH(GOMP_loop_ordered_runtime_next);
CST_FOR_BOTH(GOMP_loop_ordered_runtime_start);
CST_FOR_BOTH(GOMP_loop_ordered_start);
CST_FOR_BOTH(GOMP_loop_ordered_static_next);
CST_FOR_BOTH(GOMP_loop_ordered_static_start);
CST_FOR_BOTH(GOMP_loop_runtime_next);
CST_FOR_BOTH(GOMP_loop_runtime_start);
CST_FOR_BOTH(GOMP_loop_start);
CST_FOR_BOTH(GOMP_loop_static_next);
CST_FOR_BOTH(GOMP_loop_static_start);
CST_FOR_BOTH(GOMP_parallel_loop_dynamic);
CST_FOR_BOTH(GOMP_parallel_loop_dynamic_start);
CST_FOR_BOTH(GOMP_parallel_loop_guided);
CST_FOR_BOTH(GOMP_parallel_loop_guided_start);
CST_FOR_BOTH(GOMP_parallel_loop_maybe_nonmonotonic_runtime);
CST_FOR_BOTH(GOMP_parallel_loop_nonmonotonic_dynamic);
CST_FOR_BOTH(GOMP_parallel_loop_nonmonotonic_guided);
CST_FOR_BOTH(GOMP_parallel_loop_nonmonotonic_runtime);
CST_FOR_BOTH(GOMP_parallel_loop_runtime);
CST_FOR_BOTH(GOMP_parallel_loop_runtime_start);
CST_FOR_BOTH(GOMP_parallel_loop_static);
CST_FOR_BOTH(GOMP_parallel_loop_static_start);
