/* Cancellation of regions, constructs and taskgroups. */
#ifndef CST_CORE_TASK_CANCEL_H
#define CST_CORE_TASK_CANCEL_H

#include "core/state/thread.h"
#include "core/task/group.h"
#include "core/wait/wait.h"

/* Has the current region been cancelled? */
static inline bool cst_region_is_cancelled(struct cst_thread *thread) {
    return cst_load_relaxed(&thread->team->cancelled) == thread->seat->region;
}

/* Names the worksharing construct that a member is in. A construct that may be cancelled ends with
 * a barrier, so the count of barriers distinguishes it from the next construct. The count of
 * constructs distinguishes it from earlier ones with `nowait`. */
static inline uint64_t cst_construct_name(struct cst_thread *thread) {
    return (thread->seat->construct << 32) + thread->seat->barrier + 1;
}

static inline bool cst_construct_was_cancelled(struct cst_thread *thread, uint64_t name) {
    return cst_load_relaxed(&thread->team->cancelled_construct) == name;
}

static inline bool cst_construct_is_cancelled(struct cst_thread *thread) {
    return cst_construct_was_cancelled(thread, cst_construct_name(thread));
}

static inline void cst_construct_cancel(struct cst_thread *thread) {
    cst_store_relaxed(&thread->team->cancelled_construct, cst_construct_name(thread));
}

/* The group that `cancel taskgroup` cancels. A construct's reductions open a group of their own,
 * which is not meant. */
static inline struct cst_group *cst_group_to_cancel(struct cst_group *group) {
    return group && group->workshare && group->enclosing ? group->enclosing : group;
}

static inline bool cst_group_is_cancelled(struct cst_group *group) {
    return group && (cst_load_relaxed(&group->cancelled) ||
                     cst_load_relaxed(&cst_group_to_cancel(group)->cancelled));
}

/* Is the innermost explicit taskgroup of the current task cancelled? */
static inline bool cst_taskgroup_is_cancelled(struct cst_thread *thread) {
    return cst_group_is_cancelled(thread->task->open_group);
}

static inline void cst_taskgroup_cancel(struct cst_thread *thread) {
    struct cst_group *group = cst_group_to_cancel(thread->task->open_group);
    if (group) cst_store_relaxed(&group->cancelled, 1);
}

static inline void cst_region_cancel(struct cst_thread *thread) {
    /* Ends waits in cancellable barriers: the exchange pairs with their load. */
    cst_exchange_seq_cst(&thread->team->cancelled, thread->seat->region);
    cst_team_wake(thread->team);
}

#endif
