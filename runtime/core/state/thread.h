/* A thread that OpenMP knows: a worker, or any thread of the host that has called us.
 *
 * A record is made at a thread's first call. When the thread ends, the record is kept for the next
 * new thread. It is never freed, as other threads may still give back its task memory. */
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
    struct cst_sizes *sizes; /* num_threads as a list (team/region.h), or NULL */
    uint32_t teams, teams_limit;
    const char *message; /* for an unmet `strict`; NULL: the runtime's words */
    uint8_t bind;        /* proc_bind; 0: none */
    uint8_t strict;      /* severity if num_threads cannot be met; 0: not strict */
    uint8_t method;      /* of the current reduction; the front end's own number */
};

struct cst_thread {
    /* The current context, also by field: the most used fields of the runtime. */
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
    struct cst_patience patience;
    struct cst_asking asking;
    uint64_t turn_begun; /* of its region, if the region began while masters waited; or 0 */
    uint64_t asked_at;   /* time of its last check for a filter of system calls (wait.c), */
    uint64_t waited_to;  /* and of the end of its last wait in which it yielded */
    /* The number of consecutive waits for a member that was queued behind it on its processor
     * (wait.c). */
    uint32_t ahead;
    struct cst_team *last_team[2]; /* last leased, first tried: [0] outermost, [1] nested */
    struct cst_team *solo;         /* free teams of one member, linked by next */
    struct cst_thread *next;       /* in the list of kept records */
    struct cst_thread *all;        /* in the list of all records */
    uint64_t regions[CST_FRONTS];  /* opened by it, by front end; summed for the report */
    uint64_t tasks;
    /* The number of regions that it entered while holding a Capability of GHC, and their time
     * (team/region.c). */
    uint64_t unsafe_regions, unsafe_ns, unsafe_since;
    struct cst_slab slab;  /* of tasks alone: see cst_deque_permit */
    struct cst_slab nodes; /* of their dependences */
    /* Tasks of one parent and group of another thread that this thread has completed, and not yet
     * counted there (task.c, run_found). */
    struct cst_owed {
        struct cst_task *parent;
        struct cst_group *group;
        uint32_t count;
        struct cst_task *running; /* the task that may be added */
    } owed;
    struct cst_team *initial; /* its team outside any region */
    struct cst_clauses clauses;
    struct cst_shown {
        uint32_t size, level, place;
    } shown;         /* its affinity as last displayed (bind.c) */
    uint32_t record; /* its number among all records, from 0; unique among live threads */
    struct cst_coroutine *coroutine; /* evaluates its callbacks; NULL: none now */
    struct cst_origin origin;        /* its last call, recorded while a tool listens (trace.h) */
    uint32_t forks;                  /* of the process, as a worker's last region began (wait.c) */
    bool worker;
    bool has_traits;
    int32_t id; /* the kernel's number, once it has slept; 0: not known */
    /* About the system's thread; one record serves several of them in succession. Its number, from
     * 1, and its traits and class as of its first region (workers.h). For a worker that has opened
     * no region, only the team's CST_CLASS_OWN is known. */
    uint64_t identity;
    struct cst_thread_traits traits;
    struct cst_thread_class class;
};

/* The calling thread's record, or NULL before it has one. Code reads it again after every
 * suspension. */
extern _Thread_local struct cst_thread *cst_current_thread
    __attribute__((tls_model("initial-exec")));

/* The thread has asked for the number of threads of its next region before it had a record. */
extern _Thread_local bool cst_asked_unknown __attribute__((tls_model("initial-exec"))) CST_HIDDEN;

/* Makes a record for the calling thread. Never NULL: without memory for it the process ends. */
struct cst_thread *cst_thread_make(void);

static inline struct cst_thread *cst_self(void) {
    struct cst_thread *thread = cst_current_thread;
    if (cst_likely(thread != NULL)) return thread;
    return cst_thread_make();
}

/* The calling thread's record; NULL if OpenMP does not know the thread, or if it is a worker
 * between two regions, which executes no task. For questions: a signal handler may ask them, so
 * they must neither allocate nor lock. For a thread without a record the answers are those of an
 * initial thread. */
static inline const struct cst_thread *cst_known(void) {
    const struct cst_thread *thread = cst_current_thread;
    if (thread && cst_unlikely(thread->seat->at_end) && thread->task == &thread->seat->implicit)
        return NULL;
    return thread;
}

/* The control variables with which the calling thread would begin a region; for questions. */
static inline const struct cst_icv *cst_known_icv(void) {
    const struct cst_thread *thread = cst_known();
    return thread ? &thread->task->icv : &cst_config.icv;
}

#endif
