/* Programs that give up system calls (seccomp); see cst_confined in platform.h.
 *
 * A filter that exists when the library is loaded is a container's, and all processes of the
 * container live with it. It would hide a later filter, as the kernel tells whether there is a
 * filter, but not how many. So the kernel is not asked then. */
#include "platform/platform.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool was_filtered; /* when the library was loaded */

_Atomic bool cst_confined_seen;

/* Not by prctl(3), whose code lies apart in the C library: its pages would cost a small program 16
 * KiB. */
static bool is_filtered(void) {
    int saved = errno;
    int mode = (int)syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0);
    errno = saved;
    return mode > 0;
}

/* Runs before all other constructors of Capstan. */
__attribute__((constructor(101))) static void look_first(void) {
    was_filtered = is_filtered();
}

bool cst_confined_self(void) {
    if (was_filtered || !is_filtered()) return false;
    cst_store_relaxed(&cst_confined_seen, true);
    return true;
}
