/* Ready tasks with a priority: one heap per team, under a lock, made at its first use. */
#ifndef CST_CORE_TASK_QUEUE_H
#define CST_CORE_TASK_QUEUE_H

#include "core/base/deque.h"

struct cst_queue;
struct cst_team;

/* Adds a task. False: no memory; the task is not queued. */
bool cst_queue_push(struct cst_team *team, struct cst_task *task);

/* Takes the most urgent task that `permit` permits (NULL: permits all), the oldest of equals. NULL:
 * there is none. Costs one load if the team never had such tasks. */
struct cst_task *cst_queue_take(struct cst_team *team, cst_deque_permit *permit,
                                const void *argument);

#endif
