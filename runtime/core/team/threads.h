/* The threads that OpenMP knows: their records, from a thread's first call to its end. */
#ifndef CST_CORE_TEAM_THREADS_H
#define CST_CORE_TEAM_THREADS_H

#include "core/state/thread.h"

/* Puts a record aside for a thread that is about to start. Else malloc would give that one an arena
 * of its own, which costs more than the thread. False: no memory. */
bool cst_thread_provide(void);

/* Puts the calling worker's record aside; called when a worker ends. */
void cst_thread_end(void);

/* From now on `ends` is called by each thread that ends, while OpenMP still knows it. A front end
 * has one such function, and may say so again. */
void cst_thread_when_it_ends(void (*ends)(const struct cst_thread *thread));

/* Called as the library is loaded. */
void cst_thread_init(void);

/* Is the end of the host's first thread noticed by itself? It is, unless the library was loaded by
 * another thread and the first has not used OpenMP. */
bool cst_thread_tells_main_ends(void);

/* Calls `visit` for every record ever made, also those put aside. */
void cst_thread_each(void (*visit)(struct cst_thread *thread, void *argument), void *argument);

/* What all threads did; of regions that run, a moment old. */
struct cst_totals {
    uint64_t regions, tasks;
    uint64_t regions_by[CST_FRONTS];    /* of the regions, who asked for them */
    uint64_t unsafe_regions, unsafe_ns; /* entered with a Capability that was not given back */
};
struct cst_totals cst_thread_totals(void);

/* Around a fork: nobody else changes what the caller's teams have in common meanwhile. */
void cst_thread_before_fork(void);
void cst_thread_after_fork(void);
/* Only the calling thread is left. */
void cst_thread_after_fork_in_child(void);

#endif
