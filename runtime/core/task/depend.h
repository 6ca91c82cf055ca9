/* Dependences between sibling tasks.
 *
 * The task that makes the siblings alone uses the table of addresses. An edge is one entry in a
 * list at the predecessor, which completion closes; a task that counts down to no predecessors
 * becomes ready. Nothing here takes a lock. */
#ifndef CST_CORE_TASK_DEPEND_H
#define CST_CORE_TASK_DEPEND_H

#include "platform/atomic.h"
#include "platform/check.h"

#include <stddef.h>

struct cst_task;
struct cst_thread;
struct cst_depend_node;
struct cst_depend_table;

/* Tasks of one kind that follow each other on an address do not wait for each other, unless the
 * kind is OUT. MUTEXINOUTSET is an OUT: one after the other is one way to exclude each other. */
enum cst_depend_kind { CST_DEPEND_IN, CST_DEPEND_OUT, CST_DEPEND_INOUTSET };

struct cst_depend_item {
    void *address; /* NULL with OUT: omp_all_memory */
    enum cst_depend_kind kind;
};

/* A task's depend clauses. Nearly all are addresses of the kinds OUT and IN, and lie ready in this
 * order; each of the rest is asked for, so that the compiler's format stays at the edge. */
struct cst_depend_list {
    size_t out, plain, count; /* ends of those of OUT, of IN, and of all */
    void **address;
    struct cst_depend_item (*other)(const struct cst_depend_list *list, size_t index);
};

/* Enters `task` among its siblings. True: it may run at once; false: the completion of its last
 * predecessor will call cst_task_ready. */
bool cst_depend_enter(struct cst_thread *thread, struct cst_task *parent, struct cst_task *task,
                      const struct cst_depend_list *list);

/* In a team of one, with all children of `parent` complete, a new one depends on nothing; and since
 * it runs at once, nothing will depend on it. */
bool cst_depend_is_void(struct cst_thread *thread, struct cst_task *parent);

/* Waits for the predecessors that `list` names, without entering anything. */
void cst_depend_await(struct cst_thread *thread, struct cst_task *parent,
                      const struct cst_depend_list *list);

/* The task is complete: its successors lose a predecessor. */
void cst_depend_complete(struct cst_thread *thread, struct cst_depend_node *node);

void cst_depend_free_table(struct cst_depend_table *table);

/* Its owner, in builds with all checks (platform/check.h): the process ends unless the table is
 * whole. Looks at each entry. */
#if CST_CHECK_LEVEL >= 2
void cst_depend_validate(struct cst_depend_table *table);
#else
static inline void cst_depend_validate(struct cst_depend_table *table) {
    (void)table;
}
#endif

#endif
