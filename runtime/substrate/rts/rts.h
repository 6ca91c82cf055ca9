/* Inside the rts substrate: what its files share.
 *
 * The same files serve two situations. As a guest (libcapstan-rts.so in a C, C++ or Fortran
 * program) we boot GHC's runtime system; in a Haskell program (the package) it runs already. */
#ifndef CST_SUBSTRATE_RTS_H
#define CST_SUBSTRATE_RTS_H

#include "substrate/substrate.h"

#include "Rts.h"

enum cst_rts_state {
    CST_RTS_NOT_STARTED, /* before hs_init */
    CST_RTS_RUNNING,
    CST_RTS_ENDED /* after hs_exit: it cannot be started again */
};

/* Of the RTS that this code is linked with. Never blocks. */
enum cst_rts_state cst_rts_state(void);

/* --- start.c --------------------------------------------------------------------------- */

extern const struct cst_substrate cst_rts_linked_substrate;

/* True when we booted the RTS: it ends with the process, never before. */
extern bool cst_rts_is_guest;

/* Boots the RTS as a guest, or refuses. In guest.c and host.c. */
int cst_rts_begin(unsigned capabilities, const char **reason);

/* The guest RTS ends, once its workers have. In guest.c. */
void cst_rts_end_guest(void);

/* --- worker.c -------------------------------------------------------------------------- */

struct cst_rts_worker {
    cst_worker_main *main;
    void *argument;
    unsigned capability; /* the worker's own */
    bool attached;       /* a bound Haskell thread shall sit under main */
};

int cst_rts_spawn(cst_worker_main *main, void *argument, unsigned index, size_t stack_size,
                  bool apart);

/* Waits until no worker is left that may call the RTS. None may be made meanwhile. */
void cst_rts_await_workers(void);

/* Runs worker->main in a safe foreign call of a bound Haskell thread on the worker's Capability.
 * The calling thread must hold no Capability. Blocks until the Capability is free, so nobody who
 * holds one may wait for this thread meanwhile. False: no memory, and nothing was run. */
bool cst_rts_attach(struct cst_rts_worker *worker);

/* Gets the Haskell action that cst_rts_attach runs. Once, before the first attach; the calling
 * thread must hold no Capability. */
void cst_rts_get_action(void);

/* --- frames.c -------------------------------------------------------------------------- */

/* For cmm/task.cmm; see there. */
bool cst_rts_is_open(StgPtr top, const StgInfoTable *border);

/* --- trace.c --------------------------------------------------------------------------- */

cst_trace_function *cst_rts_trace(void);

/* --- busy.c ---------------------------------------------------------------------------- */

unsigned cst_rts_capabilities(void);
bool cst_rts_haskell_runs(unsigned capability);
unsigned cst_rts_idle_capabilities(void);

/* Number of Capabilities that have a thread ready to run. While none runs, in a collection. */
unsigned cst_rts_wanted_capabilities(void);

/* Looks for what GHC does not export. Before any of the calls below or above. */
void cst_rts_observe(void);

/* Whether that lies in the RTS itself, not in something of the host's with the same name. */
bool cst_rts_is_ghcs(const void *address);

/* NULL: not known. One that was found stays until hs_exit. */
Capability *cst_rts_capability(unsigned number);

/* Remembers where a Capability lies. */
void cst_rts_note_capability(unsigned number, Capability *capability);

/* Does the calling thread hold a Capability: did it come here by an unsafe foreign call? False
 * when that cannot be known. */
bool cst_rts_holds_capability(void);

/* The number of the Capability that the calling thread's Haskell code holds or held last;
 * UINT_MAX if it never ran any. */
unsigned cst_rts_own_capability(void);

/* --- collect.c ------------------------------------------------------------------------- */

/* The collector keeps out of the way of regions: while `busy` counts threads in some, */
void cst_rts_collect_beside(unsigned (*busy)(void));
/* and when one begins, whose threads want the processors to themselves. In a Haskell program. */
void cst_rts_note_region(void);
/* Called by Haskell (Capstan.Task.Pool): tasks want short pauses too. */
#pragma GCC visibility push(default)
void cst_rts_note_tasks(void);
#pragma GCC visibility pop

/* --- marking.c ------------------------------------------------------------------------- */

/* After each collection: if a concurrent one goes on, its last pause shall come soon. */
void cst_rts_note_collection(void);

/* --- idle.c ---------------------------------------------------------------------------- */

/* Called by Haskell (Capstan.Task.Pool.Idle): puts a unit into the MVar (newStablePtrPrimMVar) when
 * the Capability was found to run no Haskell twice in a row or is not in use, or after so many
 * milliseconds, if not 0. False: it will not, as there is nothing to look at or no thread to do it;
 * then the pointer is still the caller's. */
#pragma GCC visibility push(default)
HsBool cst_rts_await_idle(HsInt capability, HsStablePtr box, HsInt milliseconds);
#pragma GCC visibility pop

/* --- ending.c (in a Haskell program host.c) -------------------------------------------- */

/* Calls a function that calls the RTS, but not Haskell. False: the RTS had no memory, and the
 * function has not returned; as host the RTS ends the process. The calling thread holds no lock
 * there. */
bool cst_rts_try(void (*function)(void *argument), void *argument);

#ifdef CST_SHARED_LIBRARY
#include <stdarg.h>
/* The start, in a thread that may never come back; and whoever waits for it. */
void cst_rts_start_begins(void);
void cst_rts_start_ends(bool well);
bool cst_rts_start_await(const char **reason);

/* Has the start not ended well, so far or for good? */
bool cst_rts_is_starting(void);

/* Runs function(argument), all that a thread of the RTS does. It returns early, with NULL, if the
 * start fails and the thread notices. */
void *cst_rts_thread_run(void *(*function)(void *argument), void *argument);

/* What the RTS calls in place of the C library. Where there is no memory they do not return. */
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

/* Calls that once, when hs_exit begins. False: it will not. */
bool cst_rts_at_exit(void (*function)(void));

/* --- offset.c -------------------------------------------------------------------------- */

extern const size_t cst_rts_number_offset; /* of a Capability's number in the Capability */
extern const size_t cst_rts_queued_offset; /* of how many threads are in its queue; 0: not known */
extern const size_t cst_rts_switch_offset; /* of what tells its thread that its slice has ended */
extern const size_t cst_rts_returning_offset; /* of who waits for it; 0: not known */

/* --- task.c ---------------------------------------------------------------------------- */

/* Learns where GHC keeps a thread's Task. Once; from a thread that never ran Haskell. */
void cst_rts_learn_task(void);
/* The calling thread's Task; NULL if it has none or that is not known. Only to be compared. */
void *cst_rts_task(void);
/* Where it stands; NULL if that is not known. */
void **cst_rts_task_word(void);

/* A part of the process that the loader knows. */
struct cst_rts_module {
    uintptr_t inside;     /* an address in it: given */
    unsigned long number; /* as the loader counts thread-local memory */
    size_t bytes;         /* of that */
    bool zero;            /* at the beginning */
};
/* False: it has no thread-local memory. */
bool cst_rts_find_module(struct cst_rts_module *module);

/* What finds a thread-local variable, as __tls_get_addr does (ELF TLS, general dynamic). */
struct cst_rts_tls_index {
    unsigned long module;
    unsigned long offset;
};
typedef void *cst_rts_tls_function(struct cst_rts_tls_index *place);
extern cst_rts_tls_function *cst_rts_tls;
/* Of a guest: what its RTS shall call, as cst_rts_tls from now on; NULL: as it is (tls.c). */
cst_rts_tls_function *cst_rts_tls_prepare(void);

/* --- imports.c ------------------------------------------------------------------------- */

/* A function that the RTS calls, and what it shall call instead. */
struct cst_rts_import {
    const char *name;
    void *replacement;
};

/* The dynamic loader's function of that name; NULL: not found. */
void *cst_rts_loaders_own(const char *name);

/* Redirects imports of the shared library that holds `inside`, but none to NULL. Returns how many
 * were found. */
unsigned cst_rts_redirect(const void *inside, const struct cst_rts_import *imports, unsigned count);

/* --- trim.c ---------------------------------------------------------------------------- */

/* Gives back the memory that only the loading of GHC's libraries needed. */
void cst_rts_trim(void);

/* --- spare.c --------------------------------------------------------------------------- */

/* Makes `count` threads that wait, signals blocked, until the RTS asks for a thread. Returns 0, or
 * an errno value and none was made. */
int cst_rts_spare_make(unsigned count);
/* Ends those that were not used. */
void cst_rts_spare_dismiss(void);
/* What the RTS calls in place of pthread_create. */
int cst_rts_spare_create(pthread_t *thread, const pthread_attr_t *attributes,
                         void *(*function)(void *), void *argument);

#endif
