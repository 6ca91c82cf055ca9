/* Dependences between sibling tasks.
 *
 * Only the task that makes the siblings uses the table of addresses. An edge is one entry in a list
 * at the predecessor; the predecessor's completion closes the list. A task becomes ready when its
 * count of predecessors falls to zero. No function here takes a lock. */
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
 * kind is OUT. MUTEXINOUTSET is treated as OUT: an order is one form of mutual exclusion. */
enum cst_depend_kind { CST_DEPEND_IN, CST_DEPEND_OUT, CST_DEPEND_INOUTSET };

struct cst_depend_item {
    void *address; /* NULL with OUT: omp_all_memory */
    enum cst_depend_kind kind;
};

/* A task's depend clauses. Nearly all are addresses of the kinds OUT and IN, and lie in an array in
 * this order. A call of `other` yields each of the rest, so that the compiler's format stays in the
 * front end. */
struct cst_depend_list {
    size_t out, plain, count; /* ends of the OUT items, of the IN items, and of all */
    void **address;
    struct cst_depend_item (*other)(const struct cst_depend_list *list, size_t index);
};

/* Enters `task` among its siblings. True: it may run at once; false: the completion of its last
 * predecessor will call cst_task_ready. */
bool cst_depend_enter(struct cst_thread *thread, struct cst_task *parent, struct cst_task *task,
                      const struct cst_depend_list *list);

/* Is a dependence of a new child of `parent` without effect? In a team of one, with all children
 * complete, it depends on no task; and as it runs at once, no task will depend on it. */
bool cst_depend_is_void(struct cst_thread *thread, struct cst_task *parent);

/* Waits for the predecessors that `list` names, without an entry in the table. */
void cst_depend_await(struct cst_thread *thread, struct cst_task *parent,
                      const struct cst_depend_list *list);

/* Tells the successors of a completed task that they have one predecessor less. */
void cst_depend_complete(struct cst_thread *thread, struct cst_depend_node *node);

void cst_depend_free_table(struct cst_depend_table *table);

/* Called by the table's owner. In builds with all checks (platform/check.h) the process ends unless
 * the table is consistent. Reads each entry. */
#if CST_CHECK_LEVEL >= 2
void cst_depend_validate(struct cst_depend_table *table);
#else
static inline void cst_depend_validate(struct cst_depend_table *table) {
    (void)table;
}
#endif

#endif
