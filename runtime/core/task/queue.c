/* Ready tasks with a priority; see queue.h. */
#include "core/task/queue.h"

#include "core/base/lock.h"
#include "core/state/team.h"

#include <stdlib.h>

struct item {
    struct cst_task *task;
    int32_t priority;
    uint64_t order; /* of arrival */
};

/* Protected by the team's queue_lock. A fork takes that lock whether or not there is a queue
 * yet. */
struct cst_queue {
    _Atomic uint32_t count;
    uint32_t capacity;
    uint64_t next_order;
    struct item *item; /* a binary heap, the most urgent first */
};

static bool before(struct item a, struct item b) {
    return a.priority != b.priority ? a.priority > b.priority : a.order < b.order;
}

static void sift_up(struct cst_queue *queue, uint32_t i) {
    struct item item = queue->item[i];
    for (; i > 0 && before(item, queue->item[(i - 1) / 2]); i = (i - 1) / 2)
        queue->item[i] = queue->item[(i - 1) / 2];
    queue->item[i] = item;
}

static void sift_down(struct cst_queue *queue, uint32_t i, uint32_t count) {
    struct item item = queue->item[i];
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= count) break;
        if (child + 1 < count && before(queue->item[child + 1], queue->item[child])) child++;
        if (!before(queue->item[child], item)) break;
        queue->item[i] = queue->item[child];
        i = child;
    }
    queue->item[i] = item;
}

static struct cst_queue *queue_of(struct cst_team *team) {
    struct cst_queue *queue = cst_load_acquire(&team->priority);
    if (queue) return queue;
    queue = calloc(1, sizeof *queue);
    if (!queue) return NULL;
    struct cst_queue *none = NULL;
    /* Release: the queue's memory, all zero; pairs with the loads above and in filled. */
    if (cst_cas_release_found(&team->priority, &none, queue)) return queue;
    free(queue);
    return none; /* another thread's queue, acquired by the failed exchange */
}

bool cst_queue_push(struct cst_team *team, struct cst_task *task) {
    struct cst_queue *queue = queue_of(team);
    if (!queue) return false;
    cst_lock_acquire(&team->queue_lock);
    uint32_t count = cst_load_relaxed(&queue->count);
    bool room = count < queue->capacity;
    if (!room) {
        uint32_t capacity = queue->capacity ? 2 * queue->capacity : 64;
        struct item *bigger = realloc(queue->item, capacity * sizeof *bigger);
        if (bigger) {
            queue->item = bigger;
            queue->capacity = capacity;
            room = true;
        }
    }
    if (room) {
        queue->item[count] = (struct item){task, task->priority, queue->next_order++};
        sift_up(queue, count);
        cst_store_relaxed(&queue->count, count + 1); /* the caller wakes sleepers: task.h */
    }
    cst_lock_release(&team->queue_lock);
    return room;
}

static struct cst_task *take_at(struct cst_queue *queue, uint32_t i) {
    struct cst_task *task = queue->item[i].task;
    uint32_t count = cst_load_relaxed(&queue->count) - 1;
    queue->item[i] = queue->item[count];
    cst_store_relaxed(&queue->count, count);
    if (i < count) {
        sift_down(queue, i, count);
        sift_up(queue, i);
    }
    return task;
}

/* The team's queue if it holds a task, else NULL. A racy answer. */
static struct cst_queue *filled(struct cst_team *team) {
    /* Acquire: the queue's memory, which is read below; pairs with queue_of. The look before a
     * sleep comes after a barrier (park.c). The lock orders the contents of the items. */
    struct cst_queue *queue = cst_load_acquire(&team->priority);
    return queue && cst_load_relaxed(&queue->count) > 0 ? queue : NULL;
}

struct cst_task *cst_queue_take(struct cst_team *team, cst_deque_permit *permit,
                                const void *argument) {
    struct cst_queue *queue = filled(team);
    if (!queue) return NULL;
    struct cst_task *task = NULL;
    cst_lock_acquire(&team->queue_lock);
    uint32_t count = cst_load_relaxed(&queue->count), best = count;
    for (uint32_t i = 0; i < count; i++) {
        if (best < count && !before(queue->item[i], queue->item[best])) continue;
        if (permit && !permit(queue->item[i].task, argument)) continue;
        best = i;
        if (i == 0) break; /* the head is the most urgent */
    }
    if (best < count) task = take_at(queue, best);
    cst_lock_release(&team->queue_lock);
    return task;
}
