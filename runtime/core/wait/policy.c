/* Derives the policy from the lengths, the settings and the processor; see policy.h. */
#include "core/wait/policy.h"

#include "platform/platform.h"

struct cst_policy cst_policy;

static uint32_t pauses(uint32_t ns, uint32_t pause_ns) {
    uint32_t count = ns / pause_ns;
    return count > 0 ? count : 1;
}

void cst_policy_init(void) {
    struct cst_policy policy = {.spin_ns = CST_SPIN_NS, .yields = CST_YIELD_TIMES};
    uint32_t pause_ns = cst_cpu_relax_ns();
    policy.first_polls = pauses(CST_POLL_FIRST_NS, pause_ns);
    policy.rivalled_polls = pauses(CST_POLL_RIVALLED_NS, pause_ns);
    policy.burst_polls = pauses(CST_POLL_BURST_NS, pause_ns);
    policy.owner_polls = pauses(CST_POLL_OWNER_NS, pause_ns);
    policy.patient_pauses = pauses(CST_POLL_PATIENT_NS, pause_ns);
    policy.lock_first_pauses = pauses(CST_LOCK_FIRST_NS, pause_ns);
    policy.lock_most_pauses = pauses(CST_LOCK_MOST_NS, pause_ns);
    if (!cst_heuristic_is_on(CST_HEURISTIC_PATIENCE)) policy.patient_pauses = 1;
    if (cst_config.wait_policy == CST_WAIT_PASSIVE) policy.spin_ns = policy.yields = 0;
    if (cst_config.wait_policy == CST_WAIT_ACTIVE) policy.forever = true;
    if (cst_config.spin_count_given) {
        policy.forever = cst_config.spin_count > UINT32_MAX;
        policy.spin_ns = cst_config.spin_count * CST_SPIN_COUNT_NS;
        if (cst_config.spin_count == 0) policy.yields = 0;
    }
    if (!cst_heuristic_is_on(CST_HEURISTIC_SPIN)) policy.spin_ns = 0, policy.forever = false;
    if (!cst_heuristic_is_on(CST_HEURISTIC_YIELD)) policy.yields = 0;
    cst_policy = policy;
}
