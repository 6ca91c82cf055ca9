/* What the signed and the unsigned loop entry points share. */
#ifndef CST_ABI_GOMP_LOOP_H
#define CST_ABI_GOMP_LOOP_H

#include "abi/facts.h"
#include "core/loop.h"

enum { ORDERED = true };

/* The schedule word of GOMP_loop_start and its like. Its monotonic bit says what holds anyway. */
static inline void cst_gomp_set_schedule(struct cst_thread *thread, struct cst_loop_spec *spec,
                                         long schedule, uint64_t chunk) {
    spec->schedule = (uint8_t)((unsigned long)schedule & 7);
    spec->chunk = chunk;
    if (spec->schedule == GOMP_SCHEDULE_RUNTIME) cst_loop_runtime(thread, spec);
}

#endif
