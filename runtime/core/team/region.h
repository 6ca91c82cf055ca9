/* The life of a region: fork, run, join. */
#ifndef CST_CORE_TEAM_REGION_H
#define CST_CORE_TEAM_REGION_H

#include "core/state/thread.h"

/* How a region is asked for. */
struct cst_region {
    cst_region_function *function;
    void *data;
    uint32_t threads; /* num_threads clause; 0: none */
    /* A num_threads clause with a list, whose first number is `threads`; NULL: none. In memory from
     * malloc, which the region's end gives back. */
    struct cst_sizes *sizes;
    uint8_t bind;  /* proc_bind clause; 0: none */
    uint8_t front; /* enum cst_front: who asks */
    /* enum cst_combined: the caller sets the first construct up between begin and launch. */
    uint8_t combined;
};

/* What the front end has noted for the thread's next region (state/thread.h). */
static inline struct cst_clauses *cst_region_clauses(struct cst_thread *thread) {
    return &thread->clauses;
}

/* Opens a region: finds its team, whose master the caller becomes. The members do not run yet. */
struct cst_team *cst_region_begin(struct cst_thread *thread, const struct cst_region *region);
/* Sends the other members off; the caller then executes the function as member 0. */
void cst_region_launch(struct cst_thread *thread, struct cst_team *team,
                       const struct cst_region *region);
/* The region's end for the master: implicit barrier, tasks, back to the enclosing region. */
void cst_region_end(struct cst_thread *thread);
/* All three, with the function between them. */
void cst_region_run(struct cst_thread *thread, const struct cst_region *region);
/* The same for jobs that wait for each other, in which each member needs a thread at once: within
 * any region, and beyond the limits on levels and threads. False: not so many threads could be had,
 * and the function was not run (exact.c). */
bool cst_region_run_exactly(struct cst_thread *thread, const struct cst_region *region);

/* Runs a function as the initial task of a contention group of its own, by the calling thread
 * alone: a target region on the host. Regions in it are outermost ones. `thread_limit`: 0: the
 * environment's. */
void cst_region_isolate(struct cst_thread *thread, cst_region_function *function, void *data,
                        uint32_t thread_limit);

/* Does the thread hold a Capability of GHC's that it will not give back before it waits? Set when
 * the first callback is made (abi/capstan/callback.c), for they need to know; NULL before. */
extern bool (*cst_team_entered_unsafely)(struct cst_thread *thread);

/* What a worker executes: argument is its cst_seat. */
void *cst_worker(void *seat);

/* What a worker can be told instead of a region's function: that it is to end, or to block all
 * signals. */
#define CST_ORDER_END ((cst_region_function *)0)
#define CST_ORDER_BLOCK_SIGNALS cst_order_block_signals
void cst_order_block_signals(void *unused);

#endif
