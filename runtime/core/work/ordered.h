/* The ordered construct, and doacross loops: ordered(n) with depend(source) and depend(sink). */
#ifndef CST_CORE_WORK_ORDERED_H
#define CST_CORE_WORK_ORDERED_H

#include "core/work/loop.h"

/* Waits until it is the turn of the chunk that the member executes. May block. */
void cst_ordered_begin(struct cst_thread *thread);

/* An ordered region ends. With the last one of its chunk the turn is passed on. */
void cst_ordered_end(struct cst_thread *thread);

/* The member is done with its chunk: passes the turn on, after waiting for it. */
void cst_ordered_pass(struct cst_thread *thread);

/* A nest of `count` loops, the outermost shared out: counts[i] iterations each. */
struct cst_doacross_spec {
    uint32_t count;
    const uint64_t *counts;
    /* Where iterations are named by the values of the loops' variables: the first of each, and the
     * increment. NULL: by their numbers. */
    const int64_t *first, *step;
};

/* For a compiler that has a doacross nest around whatever shares its outermost loop out: the nest
 * begins for the member, and ends after that loop. */
void cst_doacross_begin(struct cst_thread *thread, const struct cst_doacross_spec *spec);
void cst_doacross_end(struct cst_thread *thread);
/* The number, in each loop, of the iteration that has these values. False: there is none. */
bool cst_doacross_number(struct cst_thread *thread, const int64_t *values, uint64_t *vector);

/* The first member sets the construct's doacross state up. */
void cst_doacross_set_up(struct cst_thread *thread, struct cst_share *share,
                         const struct cst_doacross_spec *spec);

/* Number of loops in the current nest; 0 where nothing needs to wait. */
uint32_t cst_doacross_loops(struct cst_thread *thread);
/* depend(source): iteration `vector` of the nest is done. */
void cst_doacross_post(struct cst_thread *thread, const uint64_t *vector);
/* depend(sink: vector): waits until that iteration is done. May block. */
void cst_doacross_wait(struct cst_thread *thread, const uint64_t *vector);

#endif
