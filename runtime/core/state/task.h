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

#endif
