/* Reductions in which tasks take part: task_reduction, in_reduction, and reduction(task, ...).
 *
 * Each member of the team has a copy of what is reduced. Tasks find the copy of the member that
 * runs them by way of the group in which the reduction was registered (task/group.h). The front end
 * says how many bytes a copy has, how it begins and how two are combined. */
#ifndef CST_CORE_WORK_REDUCE_H
#define CST_CORE_WORK_REDUCE_H

#include "core/state/thread.h"
#include "core/task/group.h"

struct cst_reduction {
    size_t bytes;                          /* of a copy */
    size_t alignment;                      /* a power of two; of the first copy */
    void (*initialise)(void *copy);        /* NULL: all zero */
    void (*combine)(void *to, void *from); /* NULL: the front end does it, before the end */
    void *original;                        /* the variable that is reduced, if there is but one */
    /* Set by the calls below. */
    struct cst_reduction *outer; /* the next one: of this registration, then of outer groups */
    char *copies;
    uint32_t members;
};

/* Makes the copies of a list of reductions, linked by `outer`, for that many members. */
void cst_reduce_allocate(struct cst_reduction *list, uint32_t members);

/* The same for the current team, and registers the list with the current group. */
void cst_reduce_register(struct cst_thread *thread, struct cst_reduction *list);

/* The same for a worksharing construct, by each member with a list of its own, all of one form. The
 * member that meets it first makes the copies and notes them in the slot, for the others. */
void cst_reduce_register_shared(struct cst_thread *thread, struct cst_share *share,
                                struct cst_reduction *list, bool first);

/* The reductions that tasks of the current group may use, from the inside out. */
struct cst_reduction *cst_reduce_list(struct cst_thread *thread);

/* The copy of the calling thread. */
void *cst_reduce_copy(const struct cst_thread *thread, const struct cst_reduction *reduction);

/* Does the address lie in a member's copy? Then its offset there is in *offset. */
bool cst_reduce_holds(const struct cst_reduction *reduction, const void *address, size_t *offset);

/* All tasks are complete: combines the copies with the original, in the members' order. */
void cst_reduce_combine(const struct cst_reduction *reduction);

/* Frees the copies. */
void cst_reduce_free(struct cst_reduction *reduction);

/* Takes the list that was registered with the group off it, without those of outer groups. NULL:
 * there is none. */
struct cst_reduction *cst_reduce_detach(struct cst_group *group);

/* Opens the group of a worksharing construct with reductions... */
void cst_reduce_begin_construct(struct cst_thread *thread);
/* ... and closes it. The list that was registered with it is returned: the front end frees it, and
 * a barrier is to follow. */
struct cst_reduction *cst_reduce_end_construct(struct cst_thread *thread);

/* A scope construct with reductions begins: the group is opened, and the list registered. */
void cst_reduce_begin_scope(struct cst_thread *thread, struct cst_reduction *list);

/* The same for a region, between cst_region_begin and cst_region_launch. `group` must live until
 * the region's end. */
void cst_reduce_begin_region(struct cst_thread *thread, struct cst_group *group,
                             struct cst_reduction *list);

#endif
