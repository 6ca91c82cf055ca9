/* A task of clang's programs, and the runtime's record of it. */
#ifndef CST_ABI_KMP_TASK_H
#define CST_ABI_KMP_TASK_H

#include "abi/kmp/facts.h"
#include "core/front.h"

/* In front of each struct kmp_task. */
struct kmp_head {
    struct cst_task *record;
    size_t size;    /* of the task with its variables and what `shareds` leads to */
    size_t shareds; /* where the latter begins, from the task; 0: there are none */
    int32_t flags;
    bool runs;      /* it has begun */
    bool continues; /* its routine returned in the middle, and is to be called again */
};

static inline struct kmp_head *cst_kmp_head(struct kmp_task *task) {
    return (struct kmp_head *)(void *)task - 1;
}

/* A task that is not filled in. */
struct kmp_task *cst_kmp_task_make(int32_t flags, size_t size, size_t shareds,
                                   kmp_routine *routine);
/* It goes its way. `wanted`: may it be deferred? */
void cst_kmp_task_submit(struct cst_thread *thread, struct kmp_task *task, bool wanted,
                         const struct cst_depend_list *depend);
/* It is given back without having run, and its variables are destroyed. */
void cst_kmp_task_drop(struct cst_thread *thread, struct kmp_task *task);

/* The taskgroup of the current task: opened, and closed with its reductions combined. */
void cst_kmp_group_begin(struct cst_thread *thread);
void cst_kmp_group_end(void);

#endif
