/* platform/linux/scheduler.c: the barrier on all threads makes no system call in a confined
 * program.
 *
 * test: not qemu qemu does not offer filters of system calls
 */
#include "../host/confine.h"
#include "unit.h"

#include "platform/platform.h"

#include <errno.h>

enum { UNTOUCHED = 4321 };

static void fail_when_confined(void) {
    forbid(SYS_membarrier, 0);
    errno = UNTOUCHED;
    UNIT_CHECK(!cst_process_barrier());
    UNIT_CHECK(cst_confined());
    UNIT_EQUAL(errno, UNTOUCHED);
}

int main(void) {
    /* A container's filter hides the filter that this test adds. */
    if (prctl(PR_GET_SECCOMP) != 0) return 77;
    unit_limit(20);
    UNIT_RUN(fail_when_confined);
    return unit_result();
}
