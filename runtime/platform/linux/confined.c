/* Programs that give up system calls (seccomp): see cst_confined in platform.h.
 *
 * A filter that is there as the library is loaded is a container's, which every process lives
 * with, and would hide one that comes later: the kernel tells whether there is one, not how many.
 * So nothing is asked then. */
#include "platform/platform.h"

#include <errno.h>
#include <sys/prctl.h>

static bool was_filtered; /* as the library was loaded */

_Atomic bool cst_confined_seen;

static bool is_filtered(void) {
    int saved = errno;
    int mode = prctl(PR_GET_SECCOMP);
    errno = saved;
    return mode > 0;
}

/* Before any other constructor of ours. */
__attribute__((constructor(101))) static void look_first(void) {
    was_filtered = is_filtered();
}

bool cst_confined_self(void) {
    if (was_filtered || !is_filtered()) return false;
    cst_store_relaxed(&cst_confined_seen, true);
    return true;
}
