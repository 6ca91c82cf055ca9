/* A task of clang's programs, and the runtime's record of it. */
#ifndef CST_ABI_KMP_TASK_H
#define CST_ABI_KMP_TASK_H

#include "abi/kmp/facts.h"
#include "core/front.h"

/* Lies in front of each struct kmp_task. */
struct kmp_head {
    struct cst_task *record;
    size_t size;    /* of the task, its variables and its shared pointers */
    size_t shareds; /* offset of the shared pointers in the task; 0: none */
    int32_t flags;
    bool runs;      /* it has begun */
    bool continues; /* its routine has returned early, and must be called again */
};

static inline struct kmp_head *cst_kmp_head(struct kmp_task *task) {
    return (struct kmp_head *)(void *)task - 1;
}

/* Makes a task that the caller fills in. */
struct kmp_task *cst_kmp_task_make(int32_t flags, size_t size, size_t shareds,
                                   kmp_routine *routine);
/* Submits a task. `wanted`: may it be deferred? */
void cst_kmp_task_submit(struct cst_thread *thread, struct kmp_task *task, bool wanted,
                         const struct cst_depend_list *depend);
/* Destroys a task's variables, and frees the task, which has not run. */
void cst_kmp_task_drop(struct cst_thread *thread, struct kmp_task *task);

/* Open and close a taskgroup of the current task. The end combines the group's reductions. */
void cst_kmp_group_begin(struct cst_thread *thread);
void cst_kmp_group_end(void);

#endif
