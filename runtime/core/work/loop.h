/* Loops and sections: the choice of the iterations that a member executes next. */
#ifndef CST_CORE_WORK_LOOP_H
#define CST_CORE_WORK_LOOP_H

#include "core/work/schedule.h"
#include "core/state/thread.h"

/* A worksharing loop as the compiler describes it, with the schedule resolved. Values of the
 * user's variable are taken modulo 2^64. */
struct cst_loop_spec {
    uint64_t start, end, increment;
    uint64_t chunk;   /* 0: none given */
    uint64_t trip;    /* iterations, if the front end has counted them; 0: computed */
    uint8_t schedule; /* enum cst_schedule_kind */
    bool up;          /* counts up */
    bool is_signed;   /* long, not unsigned long long */
    bool ordered;
    bool sections; /* iterations are sections, handed out one at a time */
};

/* Fills in schedule(runtime) from run-sched-var. */
void cst_loop_runtime(struct cst_thread *thread, struct cst_loop_spec *spec);

/* Optional parts of a loop or sections construct. */
struct cst_doacross_spec;
struct cst_loop_extras {
    struct cst_reduction *reductions; /* the member's list of them (reduce.h), or NULL */
    bool wants_memory;                /* zeroed memory that all members share */
    size_t memory_bytes;
    void *memory;                             /* its address, set by the start */
    const struct cst_doacross_spec *doacross; /* NULL: not a doacross loop */
};

/* Called by a member that meets the loop. */
void cst_loop_start(struct cst_thread *thread, const struct cst_loop_spec *spec);
void cst_loop_start_with(struct cst_thread *thread, const struct cst_loop_spec *spec,
                         struct cst_loop_extras *extras);

/* For a combined construct: the master sets up the first construct before the launch, ... */
enum cst_combined cst_loop_prepare(struct cst_team *team, const struct cst_loop_spec *spec);
/* ... and every member joins it at the region's start (team/). */
void cst_loop_join(struct cst_thread *thread, enum cst_combined combined);

/* The number of the loop's iterations. */
static inline uint64_t cst_loop_trip(const struct cst_loop_spec *spec) {
    if (spec->trip) return spec->trip;
    return cst_schedule_trip(spec->start, spec->end, spec->increment, spec->up, spec->is_signed);
}

/* A word for a front end whose compiler asks for the increment with each chunk. The front end may
 * keep the increment in it, after the start. */
static inline uint64_t *cst_loop_stride(struct cst_thread *thread) {
    return &thread->loop.stride;
}

/* Is a chunk with this `last`, from cst_loop_next, the end of the loop? */
static inline bool cst_loop_ends_at(const struct cst_thread *thread, uint64_t last) {
    const struct cst_loop *loop = &thread->loop;
    if (loop->batching == CST_BATCHING_TREE) return last == loop->end;
    return last == loop->start + loop->trip * loop->increment;
}

/* Do members claim several chunks at once of a loop with `trip` iterations? */
bool cst_loop_is_batched(const struct cst_loop_spec *spec, uint64_t trip, uint32_t size);

/* The member's next chunk: values [*first, *last) of the user's variable; false: none is left. */
static inline bool cst_loop_next(struct cst_thread *thread, uint64_t *first, uint64_t *last);
bool cst_loop_next_slow(struct cst_thread *thread, uint64_t *first, uint64_t *last);

/* The end of a loop or sections: with barrier, without, and cancellable (true: cancelled). */
void cst_loop_end(struct cst_thread *thread);
void cst_loop_end_nowait(struct cst_thread *thread);
bool cst_loop_end_cancellable(struct cst_thread *thread);

/* Sections are iterations 1..count. cst_sections_next returns the next number, or 0 when none is
 * left. */
void cst_sections_start(struct cst_thread *thread, uint32_t count, struct cst_loop_extras *extras);
uint32_t cst_sections_next(struct cst_thread *thread);
void cst_sections_prepare(struct cst_team *team, uint32_t count);

static inline bool cst_loop_next(struct cst_thread *thread, uint64_t *first, uint64_t *last) {
    struct cst_loop *loop = &thread->loop;
    if (loop->left == 0) return cst_loop_next_slow(thread, first, last);
    loop->left--;
    *first = loop->value;
    *last = loop->value += loop->step;
    return true;
}

#endif
