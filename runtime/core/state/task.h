/* A task's life: made, deferred or run at once, completed, waited for.
 *
 * Ready tasks lie in the deque of the member that deferred them. There is no global counter:
 * parents, groups and members have counters of their own. A barrier finds its end by the sum of the
 * members' counters (quiesce.c). */
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
    CST_DETACH_PENDING = 1,  /* the body has not returned, the event is not fulfilled */
    CST_DETACH_RETURNED = 2, /* the body returned first: omp_fulfill_event completes it */
    CST_DETACH_FULFILLED = 3 /* the event came first: the body's return completes it */
};

struct cst_task {
    cst_task_function *function; /* overwritten by slab.c when the task is free */
    void *data;
    _Atomic(struct cst_task *) parent; /* NULL for an initial task */
    struct cst_group *group;           /* innermost group in which it was made */
    struct cst_group *open_group;      /* innermost group that it has opened or inherited */
    struct cst_team *team;
    /* The member that runs the task, which sets it; NULL once the task has returned. Other threads
     * compare it, and wake its member. */
    _Atomic(struct cst_seat *) seat;
    /* Children deferred, minus children completed by the thread that runs this task. Only that
     * thread uses it. */
    int32_t children_here;
    /* Minus the number of children that other threads completed. It only counts down while the task
     * runs. When the task has returned, children_here is added; the thread that then brings it to
     * zero frees the task. */
    _Atomic int32_t balance;
    _Atomic uint32_t depth; /* distance from the implicit task */
    uint8_t kind;           /* enum cst_task_kind */
    bool final;
    bool deferred;          /* counted in the counters of its maker's seat, parent and group */
    _Atomic uint8_t detach; /* enum cst_detach */
    bool constructed; /* `copy` made the data and the body alone destroys it, so it always runs */
    uint16_t nested;  /* tasks around it on the stack that ran when they were made */
    int32_t priority;
    int64_t floor; /* deque entries from this index are its descendants; for the runner */
    void *outside; /* memory of data too large for the slab; NULL: none */
    struct cst_depend_node *depend;           /* edges to later siblings; NULL: no depend clause */
    struct cst_depend_table *children_depend; /* addresses that its children name */
    struct cst_icv icv;
};

#endif
