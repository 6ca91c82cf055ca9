/* Where threads come from: the seam between core and a thread library.
 *
 * Two implementations: in rts/ each worker belongs to one of GHC's Capabilities and holds none
 * while it runs C; pthread/ makes plain threads. Core never creates a thread and never includes a
 * GHC header. All calls keep errno, and none may be made in a signal handler. */
#ifndef CST_SUBSTRATE_H
#define CST_SUBSTRATE_H

#include "substrate/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a worker thread runs until it returns; then the thread ends. NULL, in the form that
 * pthread_create wants. */
typedef void *cst_worker_main(void *argument);

struct cst_substrate {
    /* "rts" or "pthread"; shown to users. */
    const char *name;

    /* Called once, before the first spawn, by the thread that opens the first region; the
     * process may already have many threads. Returns 0, or an errno value with a message in
     * *reason (static storage), after which the pthread substrate is used. May block, but not on
     * Haskell code: the caller may hold a Capability. `capabilities` is how many the RTS shall
     * have, if it is we who start it. `busy` tells how many threads execute regions at any moment:
     * while some do, the collector wakes no threads that have nothing to do. */
    int (*start)(unsigned capabilities, unsigned (*busy)(void), const char **reason);

    /* Makes one worker. It inherits the caller's signal mask, is detached, has a stack of
     * at least `stack_size` bytes (0: the system's default), and runs main(argument) without
     * waiting for Haskell code or a collection. `index` counts the workers of the process from 1;
     * worker i belongs to Capability i mod capabilities(). `apart`: it begins on another processor
     * than the caller's, if it may; until the call has returned, main must not return then, nor
     * change its thread's affinity mask. Returns 0 or an errno value; on failure nothing was made.
     * Does not block. */
    int (*spawn)(cst_worker_main *main, void *argument, unsigned index, size_t stack_size,
                 bool apart);

    /* Number of Capabilities now (setNumCapabilities may change it); 0 under pthread. */
    unsigned (*capabilities)(void);

    /* Whether Haskell code runs on that Capability at this moment. One or two loads, no lock;
     * a racy answer by nature. Always false under pthread. */
    bool (*haskell_runs)(unsigned capability);

    /* Number of Capabilities, out of capabilities(), on which no Haskell code runs or is about to,
     * but perhaps the calling thread's own (it called by an unsafe foreign call, and so computes in
     * C); 0 while a collection goes on. */
    unsigned (*idle_capabilities)(void);

    /* A region of several threads begins: for a while the collector keeps out of its way. A load,
     * mostly. NULL where nothing is collected. */
    void (*region_begins)(void);

    /* Does the calling thread hold a Capability, as in an unsafe foreign call? Some loads. Always
     * false under pthread. */
    bool (*holds_capability)(void);

    /* Who wants to know of events; NULL: nobody. Asked once it has started. NULL under pthread. */
    cst_trace_function *(*trace)(void);

    /* Ends the substrate, all of whose workers have ended or are about to; it is not used any more.
     * NULL where it stays as long as the process. Does not block. */
    void (*end)(void);

    /* GHC's version, such as "9.0.2"; NULL under pthread. */
    const char *ghc_version;
};

extern const struct cst_substrate cst_pthread_substrate;

/* The rts substrate, when it is linked in (a Haskell program) or can be loaded beside this
 * library (libcapstan-rts.so). NULL with a message in *reason when neither is so. */
const struct cst_substrate *cst_rts_substrate(const char **reason);

/* True when this code is linked with GHC's runtime system: a Haskell program built with the capstan
 * package. May be asked in a constructor, when the RTS does not run yet. */
bool cst_rts_is_host(void);

#endif
