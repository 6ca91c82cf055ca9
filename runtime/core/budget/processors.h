/* The number of processors that the process may use at this moment: its affinity mask names them,
 * and its cgroup's quota bounds their number. Both may change while the process runs. */
#ifndef CST_CORE_BUDGET_PROCESSORS_H
#define CST_CORE_BUDGET_PROCESSORS_H

#include <stdint.h>

/* At least 1, at most 100 ms old. A call costs some ns. Each 100 ms one caller reads the files of
 * the quota, which takes tens of microseconds. The number at start stays in a process whose threads
 * are bound to places, as their masks tell nothing. It also stays in a process that has given up
 * system calls. */
uint32_t cst_processors(void);

/* The number of processors that the quota pays for, rounded up; 0: there is no quota. */
uint32_t cst_processors_quota(void);

#endif
