/* Reductions in which tasks take part: task_reduction, in_reduction, and reduction(task, ...).
 *
 * Each member of the team has a copy of the reduced variables. A task finds the copy of the member
 * that runs it through the group in which the reduction was registered (task/group.h). The front
 * end provides the size of a copy, its initial value and the combination of two copies. */
#ifndef CST_CORE_WORK_REDUCE_H
#define CST_CORE_WORK_REDUCE_H

#include "core/state/thread.h"
#include "core/task/group.h"

struct cst_reduction {
    size_t bytes;                          /* of a copy */
    size_t alignment;                      /* a power of two; of the first copy */
    void (*initialise)(void *copy);        /* NULL: all zero */
    void (*combine)(void *to, void *from); /* NULL: the front end combines, before the end */
    void *original;                        /* the reduced variable, if there is only one */
    /* Set by the calls below. */
    struct cst_reduction *outer; /* next: of this registration, then of outer groups */
    char *copies;
    uint32_t members;
};

/* Makes the copies of a list of reductions, linked by `outer`, for `members` members. */
void cst_reduce_allocate(struct cst_reduction *list, uint32_t members);

/* Makes the copies for the current team, and registers the list with the current group. */
void cst_reduce_register(struct cst_thread *thread, struct cst_reduction *list);

/* As cst_reduce_register, for a worksharing construct. Each member calls with a list of its own,
 * all of one form. The member that meets the construct first makes the copies, and stores their
 * addresses in the slot for the other members. */
void cst_reduce_register_shared(struct cst_thread *thread, struct cst_share *share,
                                struct cst_reduction *list, bool first);

/* The reductions that tasks of the current group may use, innermost first. */
struct cst_reduction *cst_reduce_list(struct cst_thread *thread);

/* The copy of the calling thread. */
void *cst_reduce_copy(const struct cst_thread *thread, const struct cst_reduction *reduction);

/* Does the address lie in a member's copy? If so, *offset is its offset in the copy. */
bool cst_reduce_holds(const struct cst_reduction *reduction, const void *address, size_t *offset);

/* Combines the copies with the original, in the members' order, once all tasks are complete. */
void cst_reduce_combine(const struct cst_reduction *reduction);

/* Frees the copies. */
void cst_reduce_free(struct cst_reduction *reduction);

/* Removes the list that was registered with the group, without the lists of outer groups, and
 * returns it. NULL: there is none. */
struct cst_reduction *cst_reduce_detach(struct cst_group *group);

/* Opens the group of a worksharing construct with reductions, ... */
void cst_reduce_begin_construct(struct cst_thread *thread);
/* ... and closes it. Returns the list that was registered with it: the front end frees it, and a
 * barrier must follow. */
struct cst_reduction *cst_reduce_end_construct(struct cst_thread *thread);

/* Begins a scope construct with reductions: opens the group, and registers the list. */
void cst_reduce_begin_scope(struct cst_thread *thread, struct cst_reduction *list);

/* Begins a region with reductions; called between cst_region_begin and cst_region_launch. `group`
 * must live until the region's end. */
void cst_reduce_begin_region(struct cst_thread *thread, struct cst_group *group,
                             struct cst_reduction *list);

#endif
