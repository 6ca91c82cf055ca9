/* Files of cgroups and mounts, in short pieces. The result is a quota or none, and every file is
 * closed.
 */
#include "files.h"

#include "platform/platform.h"

#include <linux/magic.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const unsigned long systems[] = {0, CGROUP2_SUPER_MAGIC, CGROUP_SUPER_MAGIC, 1};
    struct file files[] = {{.ending = "/proc/self/cgroup"}, {.ending = "/proc/self/mountinfo"},
                           {.ending = "/g/cpu.max"},        {.ending = "/cpu.max"},
                           {.ending = "/cpu.cfs_quota_us"}, {.ending = "/cpu.cfs_period_us"}};
    struct input input = {data, size};
    fake.chunk = next_byte(&input) + 1u;
    fake.system = systems[next_byte(&input) % 4];
    fake_begin(&input, files, sizeof files / sizeof *files);
    unsigned found = cst_cpu_quota_below("");
    CHECK(found == cst_cpu_quota_below(""));
    fake_end();
    return 0;
}
