/* How many processors the process may use at this moment: its affinity mask's, and no more than
 * its cgroup's quota pays for. Both may change while it runs. */
#ifndef CST_CORE_BUDGET_PROCESSORS_H
#define CST_CORE_BUDGET_PROCESSORS_H

#include <stdint.h>

/* At least 1, at most 100 ms old. Some ns; each 100 ms one caller reads the files of the quota,
 * which takes tens of microseconds. What the process began with stays where its threads are bound
 * to places, whose masks tell nothing, and in a process that has given up system calls. */
uint32_t cst_processors(void);

/* The quota's part of it, rounded up; 0: there is no quota. */
uint32_t cst_processors_quota(void);

#endif
