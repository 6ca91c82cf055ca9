/* The pauses between two polls of a patient wait; see patience.h. */
#include "core/wait/patience.h"

/* The mean is kept in parts of a pause. A new fetch has a share in it. */
enum { PARTS = 64, SHARE = 4 };

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* The thread may lose its processor during a fetch, so no fetch counts as longer than one for which
 * the policy's pauses are right. */
void cst_patience_learn(struct cst_patience *patience, uint64_t pause, uint64_t fetch) {
    uint32_t most = cst_policy.patient_pauses;
    if (pause == 0) pause = 1;
    uint64_t longest = (uint64_t)most * PARTS;
    uint64_t parts = least(fetch, pause * most) * PARTS / pause;
    uint64_t mean = patience->pauses ? patience->mean : longest;
    mean = mean + (parts + SHARE - 1) / SHARE - mean / SHARE;
    patience->mean = (uint32_t)least(mean, longest);
    uint32_t pauses = patience->mean / PARTS;
    patience->pauses = pauses > 0 ? pauses : 1;
}
