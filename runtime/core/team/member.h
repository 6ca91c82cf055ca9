/* What every member of a region does, the master too: takes its seat, sends its children in the
 * tree off, and waits for them. */
#ifndef CST_CORE_TEAM_MEMBER_H
#define CST_CORE_TEAM_MEMBER_H

#include "core/state/thread.h"

/* The thread takes its seat in that region. */
void cst_member_begin(struct cst_thread *thread, struct cst_seat *seat, uint32_t region,
                      const struct cst_order *order);

/* Sends off the children of member `number` in the tree. */
void cst_member_fork(struct cst_team *team, uint32_t number, uint32_t region,
                     const struct cst_order *order);

/* Waits until *word has reached target, running tasks of the region meanwhile. */
void cst_member_await(struct cst_thread *thread, _Atomic uint32_t *word, uint32_t target);

/* Waits until the member's children in the tree, of a team of that size, have arrived at the
 * region's end. True: tasks may be outstanding. */
bool cst_member_await_children(struct cst_thread *thread, uint32_t size);

/* The coroutines that began in the thread's region end with it. */
static inline void cst_member_end_coroutines(struct cst_thread *thread) {
    while (cst_unlikely(thread->coroutine != NULL) && thread->coroutine->owner == thread->team)
        cst_coroutine_end(&thread->coroutine);
}

#endif
