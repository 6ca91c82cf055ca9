/* A task's life: made, deferred or run at once, completed, waited for.
 *
 * Ready tasks lie in the deque of the member that deferred them. Nothing is counted globally:
 * parents, groups and members have counters of their own, and the end of a barrier is found by
 * summing the members' (quiesce.c). */
#ifndef CST_CORE_STATE_TASK_H
#define CST_CORE_STATE_TASK_H

#include "core/settings/icv.h"
#include "platform/atomic.h"

#include <stddef.h>

struct cst_thread;
struct cst_team;
struct cst_seat;
struct cst_group;
struct cst_depend_node;
struct cst_depend_table;

typedef void cst_task_function(void *data);
typedef void cst_task_copy(void *to, void *from);

enum cst_task_kind { CST_TASK_IMPLICIT, CST_TASK_EXPLICIT };

enum cst_detach {
    CST_DETACH_NONE = 0,     /* no event */
    CST_DETACH_PENDING = 1,  /* neither returned nor fulfilled */
    CST_DETACH_RETURNED = 2, /* the body returned first: completed by omp_fulfill_event */
    CST_DETACH_FULFILLED = 3 /* fulfilled first: completed when the body returns */
};

struct cst_task {
    cst_task_function *function; /* overwritten by slab.c when the task is free */
    void *data;
    _Atomic(struct cst_task *) parent; /* NULL for an initial task */
    struct cst_group *group;           /* innermost group it was made in */
    struct cst_group *open_group;      /* innermost group it has opened or inherited */
    struct cst_team *team;
    /* Who runs it; NULL once it has returned. Set by that member. Others compare, and wake. */
    _Atomic(struct cst_seat *) seat;
    /* Children deferred minus those completed by the thread that runs this task; its own. */
    int32_t children_here;
    /* Minus the children completed by others; while the task runs only counts down. When the
     * task has returned, children_here is added: who then brings it to zero frees the task. */
    _Atomic int32_t balance;
    _Atomic uint32_t depth; /* distance from the implicit task */
    uint8_t kind;           /* enum cst_task_kind */
    bool final;
    bool deferred;          /* counted in made/done of its maker's seat, parent and group */
    _Atomic uint8_t detach; /* enum cst_detach */
    bool constructed; /* data was made by `copy`: only the body destroys it, so it always runs */
    uint16_t nested;  /* tasks around it on the stack that run where they were made */
    int32_t priority;
    int64_t floor; /* deque index above which all is this task's progeny; the runner's own */
    void *outside; /* memory of data that does not fit the slab; NULL: none */
    struct cst_depend_node *depend;           /* edges to later siblings; NULL: no depend clause */
    struct cst_depend_table *children_depend; /* addresses named by its children */
    struct cst_icv icv;
};

/* What GOMP_task was told, decoded. */
struct cst_task_request {
    cst_task_function *function;
    void *data;
    cst_task_copy *copy; /* NULL: memcpy */
    size_t size, alignment;
    /* NULL, or two words that the task's data begins with, whatever `copy` put there (taskloop). */
    const uint64_t *bounds;
    const struct cst_depend_list *depend; /* NULL: none */
    void **detach_event;                  /* NULL: none; receives the event handle */
    int32_t priority;
    bool deferrable; /* if clause */
    bool final;
};

void cst_task_create(struct cst_thread *thread, const struct cst_task_request *request);

/* taskwait: until all children of the current task are complete. */
void cst_task_wait_children(struct cst_thread *thread);
/* taskwait with depend: until the named predecessors are complete. */
void cst_task_wait_depend(struct cst_thread *thread, const struct cst_depend_list *depend);

void cst_task_yield(struct cst_thread *thread);

/* omp_fulfill_event; any thread, also one that OpenMP does not know. */
void cst_task_fulfill(struct cst_task *task);

/* Runs one task, for a thread that waits where any task of the team may run (at a barrier, in a
 * dock). False: none found. */
bool cst_task_run_any(struct cst_thread *thread);

/* Waits until `holds` does, running only progeny of the current task meanwhile: a task that is
 * tied to this thread and suspended permits no other (OpenMP 5.2, section 12.9). */
struct cst_wait;
void cst_task_wait(struct cst_thread *thread, struct cst_wait *wait);

/* A member of a large team goes on that has waited where any task of the team may run. */
void cst_task_stop_helping(struct cst_thread *thread);

/* Makes `task` the implicit task of a member. */
void cst_task_init_implicit(struct cst_task *task, struct cst_team *team, struct cst_seat *seat,
                            struct cst_task *parent, const struct cst_icv *icv);

/* A deferred task may run: into the deque of the calling member, or, from a thread that is no
 * member, into the team's queue. */
void cst_task_ready(struct cst_thread *thread, struct cst_task *task);

#endif
