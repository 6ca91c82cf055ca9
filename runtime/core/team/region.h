/* The life of a region: fork, run, join. */
#ifndef CST_CORE_TEAM_REGION_H
#define CST_CORE_TEAM_REGION_H

#include "core/state/thread.h"
#include "platform/hidden.h"

/* A request for a region. */
struct cst_region {
    cst_region_function *function;
    void *data;
    uint32_t threads; /* num_threads clause; 0: none */
    /* A num_threads clause with a list, whose first number is `threads`; NULL: none. It is memory
     * from malloc, which the region's end frees. */
    struct cst_sizes *sizes;
    uint8_t bind;  /* proc_bind clause; 0: none */
    uint8_t front; /* enum cst_front: the caller */
    /* enum cst_combined: the caller sets up the first construct between begin and launch. */
    uint8_t combined;
    /* The number of words at `data` that the team copies, at most CST_REGION_WORDS; 0: none. The
     * other members then read the team's copy. Its line stays in their caches while the words are
     * the same from region to region. */
    uint8_t words;
};

/* The clauses that the front end has stored for the thread's next region (state/thread.h). */
static inline struct cst_clauses *cst_region_clauses(struct cst_thread *thread) {
    return &thread->clauses;
}

/* Opens a region: finds a team, and makes the caller its master. The members do not run yet. */
struct cst_team *cst_region_begin(struct cst_thread *thread, const struct cst_region *region);
/* Starts the other members; the caller then executes the function as member 0. */
void cst_region_launch(struct cst_thread *thread, struct cst_team *team,
                       const struct cst_region *region);
/* Ends the region for the master: implicit barrier, tasks, return to the enclosing region. */
void cst_region_end(struct cst_thread *thread);
/* Calls all three, and executes the function before the end. */
void cst_region_run(struct cst_thread *thread, const struct cst_region *region);
/* As cst_region_run, for jobs that wait for each other, in which each member needs a thread at
 * once. It works within any region, and ignores the limits on levels and threads. False: too few
 * threads could be made, and the function was not run (exact.c). */
bool cst_region_run_exactly(struct cst_thread *thread, const struct cst_region *region);

/* Runs a function as the initial task of a contention group of its own, by the calling thread
 * alone: a target region on the host. Regions in it are outermost regions. `thread_limit` 0: the
 * environment's limit. */
void cst_region_isolate(struct cst_thread *thread, cst_region_function *function, void *data,
                        uint32_t thread_limit);

/* Does the thread hold a Capability of GHC that it will not give back before it waits? Only
 * callbacks need the answer: the first one sets the pointer (abi/capstan/callback.c). NULL
 * before. */
extern CST_HIDDEN bool (*cst_team_entered_unsafely)(struct cst_thread *thread);

/* The function of a worker's thread; the argument is its cst_seat. */
void *cst_worker(void *seat);

/* Orders in the place of a region's function: the worker ends, or blocks all signals. */
#define CST_ORDER_END ((cst_region_function *)0)
#define CST_ORDER_BLOCK_SIGNALS cst_order_block_signals
void cst_order_block_signals(void *unused);

#endif
