/* The steps of each member of a region, the master included: it takes its seat, starts its children
 * in the tree, and waits for them. */
#ifndef CST_CORE_TEAM_MEMBER_H
#define CST_CORE_TEAM_MEMBER_H

#include "core/state/thread.h"
#include "core/task/task.h"
#include "core/team/bind.h"
#include "core/wait/apart.h"
#include "core/wait/box.h"
#include "core/wait/together.h"

/* The number of partners of a member in a large team of that size (wait/box.h). */
uint8_t cst_member_partners(uint32_t size);

/* The thread takes its seat in the region. Inline, as it is a considerable part of a small
 * region. */
static inline void cst_member_begin(struct cst_thread *thread, struct cst_seat *seat,
                                    uint32_t region, const struct cst_order *order) {
    struct cst_team *team = seat->team;
    seat->region = region;
    seat->size = order->size;
    seat->crowded = order->crowded;
    seat->barrier = order->barrier;
    seat->made_tasks = false;
    seat->at_end = false;
    seat->in_wave = false;
    seat->partners = 0;
    if (cst_unlikely(cst_team_is_large(order->size, order->crowded))) {
        seat->partners = cst_member_partners(order->size);
        cst_box_begin(seat);
    }
    seat->construct = seat->construct_at_barrier = seat->left_by_all = order->construct;
    seat->singles = order->singles;
    cst_store_relaxed(&seat->construct_left, order->construct);
    cst_store_relaxed(&seat->tasks_made, 0);
    cst_store_relaxed(&seat->tasks_done, 0);
    cst_task_init_implicit(&seat->implicit, team, seat, team->encountering, &team->icv);
    thread->team = team;
    thread->seat = seat;
    thread->task = &seat->implicit;
    thread->share = NULL;
    seat->gathers = 0;
    thread->number = seat->number;
    if (cst_unlikely(cst_bind_wanted())) cst_bind_member(thread);
    if (order->size > 1) cst_apart_say(seat);
    if (cst_unlikely(order->crowded == CST_TOGETHER)) cst_together_come(seat);
}

/* Starts the children of member `number` in the tree. */
void cst_member_fork(struct cst_team *team, uint32_t number, uint32_t region,
                     const struct cst_order *order);

/* Waits until *word has reached target, running tasks of the region meanwhile. */
void cst_member_await(struct cst_thread *thread, _Atomic uint32_t *word, uint32_t target);

/* Waits until the member's children in the tree, of a team of that size, have arrived at the
 * region's end. True: tasks may be outstanding. */
bool cst_member_await_children(struct cst_thread *thread, uint32_t size);

/* Ends the coroutines that began in the thread's region. */
static inline void cst_member_end_coroutines(struct cst_thread *thread) {
    while (cst_unlikely(thread->coroutine != NULL) && thread->coroutine->owner == thread->team)
        cst_coroutine_end(&thread->coroutine);
}

#endif
