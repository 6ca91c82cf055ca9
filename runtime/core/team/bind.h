/* Binding of a team's members to places, and OMP_DISPLAY_AFFINITY. Called only if there are places
 * or a display is wanted; place.h has the arithmetic. */
#ifndef CST_CORE_TEAM_BIND_H
#define CST_CORE_TEAM_BIND_H

#include "core/settings/config.h"
#include "core/state/thread.h"

static inline bool cst_bind_wanted(void) {
    return cst_places.count > 0 || cst_config.display_affinity;
}

/* Called by the master before the members start: sets the policy and binding from which their
 * places follow. `clause` is the region's proc_bind clause; 0: none. */
void cst_bind_team(struct cst_thread *thread, struct cst_team *team, uint8_t clause);

/* Called by the master after a region, if cst_config.bind_resets. Ends the master's binding if the
 * region was an outermost one. */
void cst_bind_reset(const struct cst_thread *thread);

/* Called by each member in its seat, the master too: finds its place and binds the thread. */
void cst_bind_member(struct cst_thread *thread);

/* The binding of the calling thread. Binds a thread that has opened no region yet. */
const struct cst_binding *cst_bind_self(struct cst_thread *thread);

#endif
