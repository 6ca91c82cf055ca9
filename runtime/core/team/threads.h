/* The threads that OpenMP knows: their records, from a thread's first call to its end. */
#ifndef CST_CORE_TEAM_THREADS_H
#define CST_CORE_TEAM_THREADS_H

#include "core/state/thread.h"

/* Keeps a record ready for a thread that is about to start. If that thread called malloc itself, it
 * would get an arena of its own, which costs more than the thread. False: no memory. */
bool cst_thread_provide(void);

/* Frees the calling worker's record for the next thread; called when a worker ends. */
void cst_thread_end(void);

/* From now on each ending thread calls `ends`, while OpenMP still knows the thread. A front end has
 * one such function, and may set it repeatedly. */
void cst_thread_when_it_ends(void (*ends)(const struct cst_thread *thread));

/* Called as the library is loaded. */
void cst_thread_init(void);

/* Does the end of the host's first thread call into the runtime? It does, unless another thread
 * loaded the library and the first thread has not used OpenMP. */
bool cst_thread_tells_main_ends(void);

/* Calls `visit` for each record ever made, also for records without a thread. */
void cst_thread_each(void (*visit)(struct cst_thread *thread, void *argument), void *argument);

/* The totals of all threads. The numbers of running regions may be a moment old. */
struct cst_totals {
    uint64_t regions, tasks;
    uint64_t regions_by[CST_FRONTS];    /* the regions, by front end */
    uint64_t unsafe_regions, unsafe_ns; /* entered with a Capability that was not given back */
};
struct cst_totals cst_thread_totals(void);

/* Called around a fork. No other thread changes the shared data of the caller's teams meanwhile. */
void cst_thread_before_fork(void);
void cst_thread_after_fork(void);
/* Called in the child, where only the calling thread is left. */
void cst_thread_after_fork_in_child(void);

#endif
