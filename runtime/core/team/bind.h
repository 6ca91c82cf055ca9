/* Binding of a team's members to places, and OMP_DISPLAY_AFFINITY. Called only when there are
 * places or something is to be displayed; place.h has the arithmetic. */
#ifndef CST_CORE_TEAM_BIND_H
#define CST_CORE_TEAM_BIND_H

#include "core/settings/config.h"
#include "core/state/thread.h"

static inline bool cst_bind_wanted(void) {
    return cst_places.count > 0 || cst_config.display_affinity;
}

/* By the master, before the members start: what their places follow from. `clause` is the region's
 * proc_bind clause, 0 for none. */
void cst_bind_team(struct cst_thread *thread, struct cst_team *team, uint8_t clause);

/* By the master, when it has left a region, where cst_config.bind_resets says so: it is bound no
 * more if that was an outermost one. */
void cst_bind_reset(const struct cst_thread *thread);

/* By each member in its seat, the master too: finds its place and binds the thread. */
void cst_bind_member(struct cst_thread *thread);

/* The binding of the calling thread; binds one that has opened no region yet. */
const struct cst_binding *cst_bind_self(struct cst_thread *thread);

#endif
