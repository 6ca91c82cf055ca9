/* A region shows whether the questions before it announced it; see announce.h. */
#include "core/wait/announce.h"

_Atomic uint32_t cst_announce_seen;

/* Each question without a region doubles the number of regions that tell nothing. */
static void forget(struct cst_asking *asking) {
    uint32_t length = asking->ignored ? 2 * asking->ignored : CST_ANNOUNCE_FORGOTTEN;
    if (length > CST_ANNOUNCE_MOST_FORGOTTEN) length = CST_ANNOUNCE_MOST_FORGOTTEN;
    asking->ignored = asking->to_ignore = length;
}

void cst_announce_learn(struct cst_asking *asking) {
    if (asking->questions > 1)
        forget(asking);
    else if (asking->to_ignore > 0)
        asking->to_ignore--;
    else if (cst_load_relaxed(&cst_announce_seen) < CST_ANNOUNCE_LEARNED)
        cst_add_relaxed(&cst_announce_seen, 1);
    asking->questions = 0;
}
