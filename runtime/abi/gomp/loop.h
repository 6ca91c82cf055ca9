/* Code that the signed and the unsigned loop entry points share. */
#ifndef CST_ABI_GOMP_LOOP_H
#define CST_ABI_GOMP_LOOP_H

#include "abi/gomp/facts.h"
#include "core/front.h"

enum { ORDERED = true };

/* The schedules that have entry points of their own, a start and a next. */
#define EACH_LOOP(LOOP, RUNTIME_LOOP)                                                              \
    LOOP(static, CST_SCHEDULE_STATIC, false)                                                       \
    LOOP(dynamic, CST_SCHEDULE_DYNAMIC, false)                                                     \
    LOOP(guided, CST_SCHEDULE_GUIDED, false)                                                       \
    LOOP(nonmonotonic_dynamic, CST_SCHEDULE_DYNAMIC, false)                                        \
    LOOP(nonmonotonic_guided, CST_SCHEDULE_GUIDED, false)                                          \
    LOOP(ordered_static, CST_SCHEDULE_STATIC, ORDERED)                                             \
    LOOP(ordered_dynamic, CST_SCHEDULE_DYNAMIC, ORDERED)                                           \
    LOOP(ordered_guided, CST_SCHEDULE_GUIDED, ORDERED)                                             \
    RUNTIME_LOOP(runtime, false)                                                                   \
    RUNTIME_LOOP(nonmonotonic_runtime, false)                                                      \
    RUNTIME_LOOP(maybe_nonmonotonic_runtime, false)                                                \
    RUNTIME_LOOP(ordered_runtime, ORDERED)

/* The schedule word of GOMP_loop_start and its like. Its monotonic bit is not needed: every
 * schedule here is monotonic. */
static inline void cst_gomp_set_schedule(struct cst_thread *thread, struct cst_loop_spec *spec,
                                         long schedule, uint64_t chunk) {
    spec->schedule = (uint8_t)((unsigned long)schedule & 7);
    spec->chunk = chunk;
    if (spec->schedule == GOMP_SCHEDULE_RUNTIME) cst_loop_runtime(thread, spec);
}

#endif
