/* A taskgroup: its end waits for all tasks made in it, and for their descendants.
 *
 * The group lives on the stack of the construct that opens it. The opener counts its own tasks
 * without atomics; all other threads use `balance`. A descendant is counted before the task that
 * makes it completes, so the sum is zero only when no task is left. */
#ifndef CST_CORE_TASK_GROUP_H
#define CST_CORE_TASK_GROUP_H

#include "platform/atomic.h"

struct cst_reduction;
struct cst_seat;

struct cst_group {
    struct cst_group *enclosing;
    struct cst_seat *seat;            /* of the opener */
    int64_t made_here;                /* opener: tasks that it deferred, minus those that it
                                       * completed */
    _Atomic int64_t balance;          /* other threads: tasks made minus completed */
    _Atomic uint32_t cancelled;       /* by cancel taskgroup; relaxed: it publishes nothing */
    uint32_t workshare;               /* opened by a worksharing construct's task reduction */
    struct cst_reduction *reductions; /* in which its tasks may take part (reduce.h), or NULL */
};

/* True when no task of the group is outstanding. Called by the opener, also before it sleeps (W2):
 * the load pairs with the count of a completion (K1, task.c). All later counts continue its release
 * sequence, so the opener sees the writes of every counted task. */
static inline bool cst_group_is_done(struct cst_group *group) {
    return group->made_here + cst_load_seq_cst(&group->balance) == 0;
}

struct cst_thread;

/* Opens a group in the current task; `group` must live until cst_group_end. */
void cst_group_begin(struct cst_thread *thread, struct cst_group *group);
/* Waits for the group's tasks and closes it. Returns it. */
struct cst_group *cst_group_end(struct cst_thread *thread);

#endif
