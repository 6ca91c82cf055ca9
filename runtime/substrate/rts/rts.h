/* Declarations that the files of the rts substrate share.
 *
 * The same files serve two situations. As a guest (libcapstan-rts.so in a C, C++ or Fortran
 * program), they boot GHC's runtime system. In a Haskell program (the package) it runs already. */
#ifndef CST_SUBSTRATE_RTS_H
#define CST_SUBSTRATE_RTS_H

#include "substrate/substrate.h"

#include "Rts.h"

enum cst_rts_state {
    CST_RTS_NOT_STARTED, /* before hs_init */
    CST_RTS_RUNNING,
    CST_RTS_ENDED /* after hs_exit: it cannot be started again */
};

/* --- state.c --------------------------------------------------------------------------- */

/* The state of the RTS that this code is linked with. Never blocks. */
enum cst_rts_state cst_rts_state(void);

/* --- start.c --------------------------------------------------------------------------- */

extern const struct cst_substrate cst_rts_linked_substrate;

/* True if Capstan booted the RTS. */
extern bool cst_rts_is_guest;

/* Boots the RTS as a guest, or refuses. Defined in guest.c and host.c. */
int cst_rts_begin(unsigned capabilities, const char **reason);

/* Ends the guest RTS, once its workers have ended. Defined in guest.c. */
void cst_rts_end_guest(void);

/* --- worker.c -------------------------------------------------------------------------- */

struct cst_rts_worker {
    cst_worker_main *main;
    void *argument;
    unsigned capability; /* the worker's own */
    bool attached;       /* main shall run within a bound Haskell thread */
};

int cst_rts_spawn(cst_worker_main *main, void *argument, unsigned index, size_t stack_size,
                  bool apart);

/* Waits until no worker is left that may call the RTS. No worker may be made meanwhile. */
void cst_rts_await_workers(void);

/* Runs worker->main in a safe foreign call of a bound Haskell thread on the worker's Capability.
 * The calling thread must hold no Capability. Blocks until the Capability is free, so no holder of
 * a Capability may wait for this thread meanwhile. False: no memory, and main was not run. */
bool cst_rts_attach(struct cst_rts_worker *worker);

/* Gets the Haskell action that cst_rts_attach runs. Called once, before the first attach. The
 * calling thread must hold no Capability. */
void cst_rts_get_action(void);

/* --- frames.c -------------------------------------------------------------------------- */

/* Used by cmm/task.cmm, which explains it. */
bool cst_rts_is_open(const StgTSO *caller, StgPtr top, const StgInfoTable *border);

/* --- trace.c --------------------------------------------------------------------------- */

cst_trace_function *cst_rts_trace(void);

/* --- busy.c ---------------------------------------------------------------------------- */

unsigned cst_rts_capabilities(void);
bool cst_rts_haskell_runs(unsigned capability);
unsigned cst_rts_idle_capabilities(void);
unsigned cst_rts_haskell_going_on(void);

/* Called by Haskell (Capstan.Task.Pool): a scout begins or ends to look for tasks on the
 * Capability, which counts as idle meanwhile. */
#pragma GCC visibility push(default)
void cst_rts_note_search(HsInt capability, HsBool begins);
#pragma GCC visibility pop

/* The caller, which holds a Capability, begins or ends to sleep in an unsafe call. The Capability
 * counts as idle meanwhile. */
void cst_rts_note_sleep(bool begins);

/* The number of Capabilities that have a thread ready to run. For use in a collection, while no
 * Haskell thread runs. */
unsigned cst_rts_wanted_capabilities(void);

/* Looks for data that GHC does not export. Must come before all other calls of busy.c. */
void cst_rts_observe(void);

/* Does the address lie in the RTS itself, and not in an object of the host with the same name? */
bool cst_rts_is_ghcs(const void *address);

/* The Capability with that number; NULL: not known. The pointer stays valid until hs_exit. */
Capability *cst_rts_capability(unsigned number);

/* Stores the address of a Capability. */
void cst_rts_note_capability(unsigned number, Capability *capability);

/* Does the calling thread hold a Capability: did it come here by an unsafe foreign call? False if
 * that is not known. */
bool cst_rts_holds_capability(void);

/* The number of the Capability that the calling thread's Haskell code holds or held last;
 * UINT_MAX if it never ran any. */
unsigned cst_rts_own_capability(void);

/* --- collect.c ------------------------------------------------------------------------- */

/* Makes the collector keep out of the way of regions: while `busy` counts threads in regions,
 * ... */
void cst_rts_collect_beside(unsigned (*busy)(void));
/* ... and at the begin of a region. In a Haskell program. */
void cst_rts_note_region(void);
/* Called by Haskell (Capstan.Task.Pool): tasks want short pauses too. */
#pragma GCC visibility push(default)
void cst_rts_note_tasks(void);
/* Called by Haskell (Capstan.Task.Pool): have regions a thread for each Capability on which no
 * other Haskell thread runs? Then the caller takes a processor from a region's thread. Mostly two
 * loads. */
HsBool cst_rts_regions_need_all(void);
#pragma GCC visibility pop

/* --- marking.c ------------------------------------------------------------------------- */

/* Called after each collection: shortens the last pause of a concurrent collection that is under
 * way. */
void cst_rts_note_collection(void);

/* --- idle.c ---------------------------------------------------------------------------- */

/* Called by Haskell (Capstan.Task.Pool.Idle): puts a unit into the MVar (newStablePtrPrimMVar) when
 * the Capability is not in use, or runs no Haskell code at two looks in a row. If `milliseconds` is
 * not 0, it also puts after that time. False: it will not, as GHC's state is not visible or no
 * watcher could be made; then the caller still owns the pointer. */
#pragma GCC visibility push(default)
HsBool cst_rts_await_idle(HsInt capability, HsStablePtr box, HsInt milliseconds);
#pragma GCC visibility pop

/* --- ending.c (in a Haskell program state.c) ------------------------------------------- */

/* Calls a function that calls the RTS, but not Haskell. False: the RTS had no memory, and the
 * function has not returned; an RTS that is the host ends the process. The function must hold no
 * lock when it calls the RTS. */
bool cst_rts_try(void (*function)(void *argument), void *argument);

#ifdef CST_SHARED_LIBRARY
#include <stdarg.h>
/* The start, in a thread that may never return, and the wait for it. */
void cst_rts_start_begins(void);
void cst_rts_start_ends(bool well);
bool cst_rts_start_await(const char **reason);

/* Is the RTS not started: still starting, or failed? */
bool cst_rts_is_starting(void);

/* Runs function(argument), the whole work of a thread of the RTS. It returns early, with NULL, if
 * the start fails and the thread notices. */
void *cst_rts_thread_run(void *(*function)(void *argument), void *argument);

/* Called by the RTS in place of the C library. Without memory they do not return. */
int cst_rts_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
void *cst_rts_malloc(size_t size);
void *cst_rts_calloc(size_t count, size_t size);
void *cst_rts_realloc(void *old, size_t size);
char *cst_rts_strdup(const char *text);
void *cst_rts_commit(void *address, size_t size, int protection, int flags, int file, off_t offset);
_Noreturn void cst_rts_exit(int status);
_Noreturn void cst_rts_abort(void);
#endif

/* --- exit.c ---------------------------------------------------------------------------- */

/* Calls the function once, when hs_exit begins. False: it will not. */
bool cst_rts_at_exit(void (*function)(void));

/* --- offset.c -------------------------------------------------------------------------- */

extern const size_t cst_rts_number_offset;    /* of a Capability's number */
extern const size_t cst_rts_queued_offset;    /* of the length of its queue; 0: not known */
extern const size_t cst_rts_switch_offset;    /* of the flag that ends its thread's slice */
extern const size_t cst_rts_returning_offset; /* of its first waiting thread; 0: not known */

/* --- task.c ---------------------------------------------------------------------------- */

/* Learns the place of a thread's Task. Called once, by a thread that never ran Haskell. */
void cst_rts_learn_task(void);
/* The calling thread's Task; NULL if it has none or the place is not known. Only for comparison. */
void *cst_rts_task(void);
/* The place of the calling thread's Task; NULL if not known, or if it is the value of a key. */
void **cst_rts_task_word(void);

/* A module of the process that the loader knows. */
struct cst_rts_module {
    uintptr_t inside;     /* an address in it, set by the caller */
    unsigned long number; /* of its thread-local memory, as the loader counts */
    size_t bytes;         /* of that memory */
    bool zero;            /* its initial image */
};
/* Finds the module. False: it has no thread-local memory. */
bool cst_rts_find_module(struct cst_rts_module *module);

/* The argument of __tls_get_addr, which finds a thread-local variable (ELF TLS, general
 * dynamic). */
struct cst_rts_tls_index {
    unsigned long module;
    unsigned long offset;
};
typedef void *cst_rts_tls_function(struct cst_rts_tls_index *place);
extern cst_rts_tls_function *cst_rts_tls;
/* The function that a guest's RTS shall call, which also becomes cst_rts_tls; NULL: no change
 * (tls.c). */
cst_rts_tls_function *cst_rts_tls_prepare(void);

/* --- imports.c ------------------------------------------------------------------------- */

/* A function that the RTS imports, and its replacement. */
struct cst_rts_import {
    const char *name;
    void *replacement;
};

/* The dynamic loader's function of that name; NULL: not found. */
void *cst_rts_loaders_own(const char *name);

/* Redirects imports of the shared library that contains `inside`, but none to NULL. Returns the
 * number found. */
unsigned cst_rts_redirect(const void *inside, const struct cst_rts_import *imports, unsigned count);

/* --- trim.c ---------------------------------------------------------------------------- */

/* Frees the memory that only the loading of GHC's libraries needed. */
void cst_rts_trim(void);

/* --- spare.c --------------------------------------------------------------------------- */

/* Makes `count` threads that wait, with signals blocked, until the RTS asks for a thread. Returns
 * 0, or an errno value; then no thread is left. */
int cst_rts_spare_make(unsigned count);
/* Ends the threads that were not used. */
void cst_rts_spare_dismiss(void);
/* Called by the RTS in place of pthread_create. */
int cst_rts_spare_create(pthread_t *thread, const pthread_attr_t *attributes,
                         void *(*function)(void *), void *argument);

#endif
