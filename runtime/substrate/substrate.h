/* The source of threads: the seam between core and a thread library.
 *
 * There are two implementations. In rts/, each worker belongs to one of GHC's Capabilities, and
 * holds none while it runs C. pthread/ makes plain threads. Core never creates a thread and never
 * includes a GHC header. All calls keep errno, and none may be made in a signal handler. */
#ifndef CST_SUBSTRATE_H
#define CST_SUBSTRATE_H

#include "substrate/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The function of a worker's thread; the thread ends when it returns. It returns NULL, in the form
 * for pthread_create. */
typedef void *cst_worker_main(void *argument);

struct cst_substrate {
    /* "rts" or "pthread"; shown to users. */
    const char *name;

    /* Called once, before the first spawn, by the thread that opens the first region; the process
     * may already have many threads. Returns 0, or an errno value with a message in *reason (static
     * storage), after which the pthread substrate is used. May block, but not on Haskell code: the
     * caller may hold a Capability. `capabilities` is their number if this call starts the RTS.
     * `busy` returns the number of threads that execute regions now: while there are some, the
     * collector wakes no needless threads. */
    int (*start)(unsigned capabilities, unsigned (*busy)(void), const char **reason);

    /* Makes one worker. It inherits the caller's signal mask, is detached, and has a stack of at
     * least `stack_size` bytes (0: the system's default). It runs main(argument) without waiting
     * for Haskell code or a collection. `index` counts the workers of the process from 1; worker i
     * belongs to Capability i mod capabilities(). `apart`: it begins on another processor than the
     * caller's, if it may. Then main must neither return nor change its thread's affinity mask
     * until the call has returned. Returns 0 or an errno value; on failure no thread was made. Does
     * not block. */
    int (*spawn)(cst_worker_main *main, void *argument, unsigned index, size_t stack_size,
                 bool apart);

    /* Number of Capabilities now (setNumCapabilities may change it); 0 under pthread. */
    unsigned (*capabilities)(void);

    /* Does Haskell code run on that Capability at this moment? One or two loads, no lock; a racy
     * answer by nature. Always false under pthread. */
    bool (*haskell_runs)(unsigned capability);

    /* Number of Capabilities, out of capabilities(), on which no Haskell code runs or is about to
     * run. The calling thread's own counts as idle: in an unsafe foreign call the thread computes
     * in C. 0 while a collection runs. */
    unsigned (*idle_capabilities)(void);

    /* The number of Haskell threads that run, and ran on the same Capability at the last call by
     * any thread. NULL without Capabilities. */
    unsigned (*haskell_going_on)(void);

    /* Called as a region begins that has several threads, or only one because Haskell code has the
     * other processors. For a while the collector keeps out of its way. Mostly one load. NULL
     * without a collector. */
    void (*region_begins)(void);

    /* Does the calling thread hold a Capability, as in an unsafe foreign call? Some loads. Always
     * false under pthread. */
    bool (*holds_capability)(void);

    /* The caller, which holds a Capability, begins or ends to sleep: the Capability counts as idle
     * meanwhile. Some loads. NULL under pthread. */
    void (*note_sleep)(bool begins);

    /* The listener for events; NULL: none. Asked after the start. The pointer is NULL under
     * pthread. */
    cst_trace_function *(*trace)(void);

    /* Ends the substrate, whose workers have all ended or are about to; it is not used any more.
     * NULL if it lives as long as the process. Does not block. */
    void (*end)(void);

    /* GHC's version, such as "9.0.2"; NULL under pthread. */
    const char *ghc_version;
};

extern const struct cst_substrate cst_pthread_substrate;

/* The rts substrate, when it is linked in (a Haskell program) or can be loaded beside this library
 * (libcapstan-rts.so). Otherwise NULL, with a message in *reason. */
const struct cst_substrate *cst_rts_substrate(const char **reason);

/* True when this code is linked with GHC's runtime system: a Haskell program built with the capstan
 * package. May be asked in a constructor, when the RTS does not run yet. */
bool cst_rts_is_host(void);

#endif
