/* Task reductions of clang's programs. */
#ifndef CST_ABI_KMP_TASKRED_H
#define CST_ABI_KMP_TASKRED_H

#include "core/front.h"

/* Called when the tasks of a list's reductions are complete: combines the members' copies, if
 * `combine`, and frees all. NULL: an empty list. */
void cst_kmp_reductions_end(struct cst_reduction *list, bool combine);

#endif
