/* core/wait/patience.h: the pauses between two polls follow the time of a fetch, and one long fetch
 * is no reason to change them. */
#include "unit.h"

#include "core/wait/patience.h"

enum { PAUSE = 100, MOST = 8 }; /* ticks; pauses that the policy permits */

static struct cst_patience after(int waits, uint64_t fetch) {
    struct cst_patience patience = {0};
    for (int i = 0; i < waits; i++) cst_patience_learn(&patience, PAUSE, fetch);
    return patience;
}

static void begins_with_the_policy(void) {
    struct cst_patience patience = {0};
    UNIT_EQUAL(cst_patience_pauses(&patience), MOST);
}

static void follows_the_fetch(void) {
    for (uint32_t pauses = 1; pauses <= MOST; pauses++) {
        struct cst_patience patience = after(100, (uint64_t)PAUSE * pauses);
        UNIT_EQUAL(cst_patience_pauses(&patience), pauses);
    }
}

static void stays_within_bounds(void) {
    struct cst_patience near = after(100, 0), far = after(100, UINT64_MAX);
    UNIT_EQUAL(cst_patience_pauses(&near), 1);
    UNIT_EQUAL(cst_patience_pauses(&far), MOST);
    cst_patience_learn(&far, 0, 0);
    cst_patience_learn(&far, UINT64_MAX / MOST, UINT64_MAX);
    UNIT_CHECK(cst_patience_pauses(&far) >= 1 && cst_patience_pauses(&far) <= MOST);
}

static void a_lost_slice_is_forgotten(void) {
    struct cst_patience patience = after(100, PAUSE);
    cst_patience_learn(&patience, PAUSE, UINT64_MAX);
    UNIT_CHECK(cst_patience_pauses(&patience) <= MOST / 2);
    for (int i = 0; i < 16; i++) cst_patience_learn(&patience, PAUSE, PAUSE);
    UNIT_EQUAL(cst_patience_pauses(&patience), 1);
}

static void few_waits_are_timed(void) {
    struct cst_patience patience = {0};
    int timed = 0;
    for (int i = 0; i < 6400; i++) timed += cst_patience_is_due(&patience);
    UNIT_CHECK(timed >= 25 && timed <= 45);
    cst_policy.patient_pauses = 1;
    UNIT_CHECK(!cst_patience_is_due(&patience));
    cst_policy.patient_pauses = MOST;
}

int main(void) {
    cst_policy.patient_pauses = MOST;
    UNIT_RUN(begins_with_the_policy);
    UNIT_RUN(follows_the_fetch);
    UNIT_RUN(stays_within_bounds);
    UNIT_RUN(a_lost_slice_is_forgotten);
    UNIT_RUN(few_waits_are_timed);
    return unit_result();
}
