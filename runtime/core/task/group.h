/* A taskgroup: waits for all tasks made in it, and for theirs.
 *
 * Lives on the stack of the construct that opens it. The opener counts its own tasks without
 * atomics; all other threads use `balance`. A task made elsewhere is counted before the task that
 * makes it is done, so the sum is zero only when nothing is left. */
#ifndef CST_CORE_TASK_GROUP_H
#define CST_CORE_TASK_GROUP_H

#include "platform/atomic.h"

struct cst_reduction;
struct cst_seat;

struct cst_group {
    struct cst_group *enclosing;
    struct cst_seat *seat;            /* of the opener */
    int64_t made_here;                /* opener: deferred by it, minus those that it completed */
    _Atomic int64_t balance;          /* the others: made minus completed */
    _Atomic uint32_t cancelled;       /* cancel taskgroup; relaxed: nothing is read because of it */
    uint32_t workshare;               /* opened by a worksharing construct's task reduction */
    struct cst_reduction *reductions; /* that its tasks may take part in (reduce.h), or NULL */
};

/* True when no task of the group is outstanding. The opener asks, also before it sleeps (W2): pairs
 * with the count of a completion (K1, task.c). All later counts continue its release sequence, so
 * what every task counted wrote is visible. */
static inline bool cst_group_is_done(struct cst_group *group) {
    return group->made_here + cst_load_seq_cst(&group->balance) == 0;
}

struct cst_thread;

/* Opens a group in the current task; `group` must live until cst_group_end. */
void cst_group_begin(struct cst_thread *thread, struct cst_group *group);
/* Waits for the group's tasks and closes it. Returns it. */
struct cst_group *cst_group_end(struct cst_thread *thread);

#endif
