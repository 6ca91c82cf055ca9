/* Loops over unsigned long long: GCC's calls, decoded. loop.c is the same for long; here the caller
 * passes the direction, as an unsigned step has no sign. */
#include "abi/gomp/loop.h"

#include "abi/gomp/reduce.h"
#include "abi/omp/both.h"
#include "abi/whole.h"
#include "core/front.h"

CST_WHOLE(gomp_loop_ull);

static struct cst_loop_spec spec_of(bool up, gomp_ull start, gomp_ull end, gomp_ull step,
                                    uint8_t schedule, gomp_ull chunk, bool ordered) {
    return (struct cst_loop_spec){.start = start,
                                  .end = end,
                                  .increment = step,
                                  .chunk = chunk,
                                  .schedule = schedule,
                                  .up = up,
                                  .is_signed = false,
                                  .ordered = ordered};
}

static bool next(gomp_ull *first, gomp_ull *last) {
    uint64_t from, to;
    if (!cst_loop_next(cst_self(), &from, &to)) return false;
    *first = from;
    *last = to;
    return true;
}

/* --- start and next, by schedule ---------------------------------------------------------- */

#define LOOP(name, schedule, ordered)                                                              \
    CST_ENTRY(CST_FRONT_GOMP, bool, GOMP_loop_ull_##name##_start,                                  \
              (bool up, gomp_ull start, gomp_ull end, gomp_ull step, gomp_ull chunk,               \
               gomp_ull *first, gomp_ull *last),                                                   \
              (up, start, end, step, chunk, first, last)) {                                        \
        struct cst_loop_spec spec = spec_of(up, start, end, step, schedule, chunk, ordered);       \
        cst_loop_start(cst_self(), &spec);                                                         \
        return next(first, last);                                                                  \
    }                                                                                              \
    bool GOMP_loop_ull_##name##_next(gomp_ull *first, gomp_ull *last) {                            \
        return next(first, last);                                                                  \
    }

#define RUNTIME_LOOP(name, ordered)                                                                \
    CST_ENTRY(                                                                                     \
        CST_FRONT_GOMP, bool, GOMP_loop_ull_##name##_start,                                        \
        (bool up, gomp_ull start, gomp_ull end, gomp_ull step, gomp_ull *first, gomp_ull *last),   \
        (up, start, end, step, first, last)) {                                                     \
        struct cst_thread *thread = cst_self();                                                    \
        struct cst_loop_spec spec =                                                                \
            spec_of(up, start, end, step, GOMP_SCHEDULE_RUNTIME, 0, ordered);                      \
        cst_loop_runtime(thread, &spec);                                                           \
        cst_loop_start(thread, &spec);                                                             \
        return next(first, last);                                                                  \
    }                                                                                              \
    bool GOMP_loop_ull_##name##_next(gomp_ull *first, gomp_ull *last) {                            \
        return next(first, last);                                                                  \
    }

EACH_LOOP(LOOP, RUNTIME_LOOP)

/* --- start with reductions or shared memory ------------------------------------------------ */

static bool start(bool ordered, bool up, gomp_ull begin, gomp_ull end, gomp_ull step, long schedule,
                  gomp_ull chunk, gomp_ull *first, gomp_ull *last, struct gomp_extras *extras) {
    struct cst_thread *thread = cst_self();
    struct cst_loop_spec spec = spec_of(up, begin, end, step, 0, 0, ordered);
    cst_gomp_set_schedule(thread, &spec, schedule, chunk);
    cst_loop_start_with(thread, &spec, &extras->core);
    cst_gomp_extras_tell(extras);
    /* Without `first` the compiler shares the iterations out itself. */
    return first ? next(first, last) : true;
}

CST_ENTRY(CST_FRONT_GOMP, bool, GOMP_loop_ull_start,
          (bool up, gomp_ull begin, gomp_ull end, gomp_ull step, long schedule, gomp_ull chunk,
           gomp_ull *first, gomp_ull *last, uintptr_t *reductions, void **memory),
          (up, begin, end, step, schedule, chunk, first, last, reductions, memory)) {
    struct gomp_extras extras = cst_gomp_extras(reductions, memory);
    return start(false, up, begin, end, step, schedule, chunk, first, last, &extras);
}

CST_ENTRY(CST_FRONT_GOMP, bool, GOMP_loop_ull_ordered_start,
          (bool up, gomp_ull begin, gomp_ull end, gomp_ull step, long schedule, gomp_ull chunk,
           gomp_ull *first, gomp_ull *last, uintptr_t *reductions, void **memory),
          (up, begin, end, step, schedule, chunk, first, last, reductions, memory)) {
    struct gomp_extras extras = cst_gomp_extras(reductions, memory);
    return start(true, up, begin, end, step, schedule, chunk, first, last, &extras);
}

/* --- doacross ------------------------------------------------------------------------------ */

CST_ENTRY(CST_FRONT_GOMP, bool, GOMP_loop_ull_doacross_start,
          (unsigned loops, gomp_ull *counts, long schedule, gomp_ull chunk, gomp_ull *first,
           gomp_ull *last, uintptr_t *reductions, void **memory),
          (loops, counts, schedule, chunk, first, last, reductions, memory)) {
    struct cst_doacross_spec nest = {.count = loops, .counts = (uint64_t *)counts};
    struct gomp_extras extras = cst_gomp_extras(reductions, memory);
    extras.core.doacross = &nest;
    return start(false, true, 0, counts[0], 1, schedule, chunk, first, last, &extras);
}

bool GOMP_loop_ull_doacross_static_start(unsigned loops, gomp_ull *counts, gomp_ull chunk,
                                         gomp_ull *first, gomp_ull *last) {
    return GOMP_loop_ull_doacross_start(loops, counts, GOMP_SCHEDULE_STATIC, chunk, first, last,
                                        NULL, NULL);
}

bool GOMP_loop_ull_doacross_dynamic_start(unsigned loops, gomp_ull *counts, gomp_ull chunk,
                                          gomp_ull *first, gomp_ull *last) {
    return GOMP_loop_ull_doacross_start(loops, counts, GOMP_SCHEDULE_DYNAMIC, chunk, first, last,
                                        NULL, NULL);
}

bool GOMP_loop_ull_doacross_guided_start(unsigned loops, gomp_ull *counts, gomp_ull chunk,
                                         gomp_ull *first, gomp_ull *last) {
    return GOMP_loop_ull_doacross_start(loops, counts, GOMP_SCHEDULE_GUIDED, chunk, first, last,
                                        NULL, NULL);
}

bool GOMP_loop_ull_doacross_runtime_start(unsigned loops, gomp_ull *counts, gomp_ull *first,
                                          gomp_ull *last) {
    return GOMP_loop_ull_doacross_start(loops, counts, GOMP_SCHEDULE_RUNTIME, 0, first, last, NULL,
                                        NULL);
}

/* --- objects of GCC that clang links --------------------------------------------------------- */

CST_FOR_BOTH(GOMP_loop_ull_doacross_dynamic_start);
CST_FOR_BOTH(GOMP_loop_ull_doacross_guided_start);
CST_FOR_BOTH(GOMP_loop_ull_doacross_runtime_start);
CST_FOR_BOTH(GOMP_loop_ull_doacross_start);
CST_FOR_BOTH(GOMP_loop_ull_doacross_static_start);
CST_FOR_BOTH(GOMP_loop_ull_dynamic_next);
CST_FOR_BOTH(GOMP_loop_ull_dynamic_start);
CST_FOR_BOTH(GOMP_loop_ull_guided_next);
CST_FOR_BOTH(GOMP_loop_ull_guided_start);
CST_FOR_BOTH(GOMP_loop_ull_maybe_nonmonotonic_runtime_next);
CST_FOR_BOTH(GOMP_loop_ull_maybe_nonmonotonic_runtime_start);
CST_FOR_BOTH(GOMP_loop_ull_nonmonotonic_dynamic_next);
CST_FOR_BOTH(GOMP_loop_ull_nonmonotonic_dynamic_start);
CST_FOR_BOTH(GOMP_loop_ull_nonmonotonic_guided_next);
CST_FOR_BOTH(GOMP_loop_ull_nonmonotonic_guided_start);
CST_FOR_BOTH(GOMP_loop_ull_nonmonotonic_runtime_next);
CST_FOR_BOTH(GOMP_loop_ull_nonmonotonic_runtime_start);
CST_FOR_BOTH(GOMP_loop_ull_ordered_dynamic_next);
CST_FOR_BOTH(GOMP_loop_ull_ordered_dynamic_start);
CST_FOR_BOTH(GOMP_loop_ull_ordered_guided_next);
CST_FOR_BOTH(GOMP_loop_ull_ordered_guided_start);
CST_FOR_BOTH(GOMP_loop_ull_ordered_runtime_next);
CST_FOR_BOTH(GOMP_loop_ull_ordered_runtime_start);
CST_FOR_BOTH(GOMP_loop_ull_ordered_start);
CST_FOR_BOTH(GOMP_loop_ull_ordered_static_next);
CST_FOR_BOTH(GOMP_loop_ull_ordered_static_start);
CST_FOR_BOTH(GOMP_loop_ull_runtime_next);
CST_FOR_BOTH(GOMP_loop_ull_runtime_start);
CST_FOR_BOTH(GOMP_loop_ull_start);
CST_FOR_BOTH(GOMP_loop_ull_static_next);
CST_FOR_BOTH(GOMP_loop_ull_static_start);
