/* The ordered construct, and doacross loops: ordered(n) with depend(source) and depend(sink). */
#ifndef CST_CORE_WORK_ORDERED_H
#define CST_CORE_WORK_ORDERED_H

#include "core/work/loop.h"

/* Waits until it is the turn of the chunk that the member executes. May block. */
void cst_ordered_begin(struct cst_thread *thread);

/* Ends an ordered region. With the last one of its chunk the member passes the turn on. */
void cst_ordered_end(struct cst_thread *thread);

/* Called when the member has completed its chunk: waits for the turn, and passes it on. */
void cst_ordered_pass(struct cst_thread *thread);

/* A nest of `count` loops of counts[i] iterations each; the team shares the outermost. */
struct cst_doacross_spec {
    uint32_t count;
    const uint64_t *counts;
    /* If the values of the loops' variables name iterations: the first value of each, and its
     * increment. NULL: numbers name them. */
    const int64_t *first, *step;
};

/* For a compiler that begins a doacross nest before any worksharing loop over its outermost loop.
 * The nest begins for the member, and ends after that loop. */
void cst_doacross_begin(struct cst_thread *thread, const struct cst_doacross_spec *spec);
void cst_doacross_end(struct cst_thread *thread);
/* Finds the number, in each loop, of the iteration with these values. False: there is none. */
bool cst_doacross_number(struct cst_thread *thread, const int64_t *values, uint64_t *vector);

/* The first member sets the construct's doacross state up. */
void cst_doacross_set_up(struct cst_thread *thread, struct cst_share *share,
                         const struct cst_doacross_spec *spec);

/* Number of loops in the current nest; 0: no wait is needed. */
uint32_t cst_doacross_loops(struct cst_thread *thread);
/* depend(source): iteration `vector` of the nest is complete. */
void cst_doacross_post(struct cst_thread *thread, const uint64_t *vector);
/* depend(sink: vector): waits until that iteration is complete. May block. */
void cst_doacross_wait(struct cst_thread *thread, const uint64_t *vector);

#endif
