/* A thread that OpenMP knows: a worker, or any thread of the host that has called us.
 *
 * Made at a thread's first call, put aside for the next new thread when it ends; never freed, as
 * its task memory may still be given back by others. */
#ifndef CST_CORE_STATE_THREAD_H
#define CST_CORE_STATE_THREAD_H

#include "core/settings/config.h"
#include "core/base/slab.h"
#include "core/state/team.h"
#include "core/state/watch.h"
#include "platform/check.h"
#include "platform/platform.h"
#include "substrate/coroutine.h"
#include "substrate/trace.h"

/* Clauses of a thread's next region, for compilers that give them in calls before it. */
struct cst_clauses {
    uint32_t threads;        /* num_threads; 0: none */
    struct cst_sizes *sizes; /* the same as a list, for the region (team/region.h); or NULL */
    uint32_t teams, teams_limit;
    const char *message; /* what the user is told then; NULL: the runtime's words */
    uint8_t bind;        /* proc_bind; 0: none */
    uint8_t strict; /* num_threads is to be met, or the user told: how severely; 0: it is not */
    uint8_t method; /* how the reduction goes that the thread is in; the front end's own number */
};

struct cst_thread {
    /* The current context, spelled out: most used fields of the runtime. */
    union {
        struct cst_context context;
        struct {
            struct cst_team *team;
            struct cst_seat *seat;
            struct cst_task *task;
            struct cst_share *share;
            struct cst_doacross *doacross;
            uint32_t number;
            struct cst_loop loop;
        };
    };
    struct cst_rival_watch rival;
    struct cst_apart_watch apart;
    struct cst_yields yields;
    uint64_t asked_at; /* clock when it last asked whether it is confined, */
    uint32_t asked_in; /* and the region in which it did (wait.c) */
    /* How often in a row whom it waited for was queued behind it on its processor (wait.c). */
    uint32_t ahead;
    struct cst_team *last_team[2]; /* leased last, tried first: [0] outermost, [1] nested */
    struct cst_team *solo;         /* free teams of one member, linked by next */
    struct cst_thread *next;       /* in the list of those put aside */
    struct cst_thread *all;        /* in the list of all */
    uint64_t regions[CST_FRONTS];  /* opened by it, by who asked; summed for the report */
    uint64_t tasks;
    /* Regions that it entered holding a Capability of GHC's, and for how long (team.h). */
    uint64_t unsafe_regions, unsafe_ns, unsafe_since;
    struct cst_slab slab;  /* of tasks, and of nothing else: see cst_deque_permit */
    struct cst_slab nodes; /* of their dependences */
    /* Tasks of one parent and group that it has completed for another thread, and not yet counted
     * there (task.c, run_any). */
    struct cst_owed {
        struct cst_task *parent;
        struct cst_group *group;
        uint32_t count;
        struct cst_task *running; /* the task that may be added */
    } owed;
    struct cst_team *initial; /* its team outside of any region */
    struct cst_clauses clauses;
    struct cst_shown {
        uint32_t size, level, place;
    } shown;         /* about its affinity last (bind.c) */
    uint32_t record; /* its number among all records, from 0: of no two threads at once the same */
    struct cst_coroutine *coroutine; /* evaluates its callbacks; NULL: none now */
    struct cst_origin origin;        /* its last call, noted while somebody listens (trace.h) */
    bool worker;
    bool has_traits;
    int32_t id; /* the kernel's, once it has slept; 0: not asked for */
    /* Of the system's thread, in which this record serves one after the other: its number, from 1;
     * and its traits and class as of its first region (workers.h). Of a worker that has opened no
     * region only CST_CLASS_OWN is known: its team's. */
    uint64_t identity;
    struct cst_thread_traits traits;
    struct cst_thread_class class;
};

/* The one thread-local variable. It is read again after every suspension. */
extern _Thread_local struct cst_thread *cst_current_thread
    __attribute__((tls_model("initial-exec")));

/* Makes the calling thread known. Never NULL: without memory for it the process ends. */
struct cst_thread *cst_thread_make(void);

static inline struct cst_thread *cst_self(void) {
    struct cst_thread *thread = cst_current_thread;
    if (cst_likely(thread != NULL)) return thread;
    return cst_thread_make();
}

/* The calling thread's record; NULL if OpenMP does not know the thread, or if it is a worker
 * between two regions, which executes no task. For questions: they may come from a signal's
 * handler, and so must neither allocate nor lock. The answer of such a thread is that of an initial
 * one. */
static inline const struct cst_thread *cst_known(void) {
    const struct cst_thread *thread = cst_current_thread;
    if (thread && cst_unlikely(thread->seat->at_end) && thread->task == &thread->seat->implicit)
        return NULL;
    return thread;
}

/* The control variables that the calling thread would begin a region with; for questions. */
static inline const struct cst_icv *cst_known_icv(void) {
    const struct cst_thread *thread = cst_known();
    return thread ? &thread->task->icv : &cst_config.icv;
}

#endif
