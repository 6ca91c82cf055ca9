/* core/team/member.c: the master of a crowded team starts all members before it begins its own
 * body. If another member had to start some of them, each would wait for that member's turn on the
 * processor.
 *
 * test: flags -fopenmp
 */
#include "unit.h"

#include "core/settings/config.h"
#include "core/state/team.h"
#include "core/state/thread.h"
#include "core/wait/wait.h"

#include <sched.h>

enum { SIZE = 24, REGIONS = 200 };

/* The number of members that have no order yet. */
static uint32_t unstarted(void) {
    struct cst_thread *self = cst_self();
    uint32_t found = 0;
    UNIT_CHECK(self->seat->crowded);
    for (uint32_t i = 1; i < SIZE; i++)
        found += !cst_reached(&cst_team_seat(self->team, i)->dock.go, self->seat->region);
    return found;
}

static void master_starts_all(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    UNIT_EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
    for (int region = 0; region < REGIONS; region++) {
#pragma omp parallel num_threads(SIZE)
        {
#pragma omp masked
            UNIT_EQUAL(unstarted(), 0);
        }
    }
}

int main(void) {
    cst_config.available = 1;
    unit_limit(60);
    UNIT_RUN(master_starts_all);
    return unit_result();
}
