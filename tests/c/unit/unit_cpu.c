/* platform/linux/cpu_mask.c and cpu.c: affinity masks, and CPU quotas in invented /proc and cgroup
 * trees.
 * Sources: platform/linux/cpu_mask.c, platform/linux/cpu.c. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tree.h"

#include "platform/platform.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

static void done(unsigned expected) {
    unsigned found = cst_cpu_quota_below(root);
    tree_remove();
    UNIT_EQUAL(found, expected);
}

#define V2_MOUNT "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define OTHER_MOUNTS                                                                               \
    "22 27 0:21 / /proc rw,relatime shared:12 - proc proc rw\n"                                    \
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"

static void nothing_there(void) {
    tree_make();
    done(0);
}

static void v2_without_quota(void) {
    tree_make();
    put("/proc/self/cgroup", "0::/user.slice/session\n");
    put("/proc/self/mountinfo", OTHER_MOUNTS V2_MOUNT);
    put("/sys/fs/cgroup/user.slice/session/cpu.max", "max 100000\n");
    done(0);
}

static void v2_own_group(void) {
    tree_make();
    put("/proc/self/cgroup", "0::/user.slice/session\n");
    put("/proc/self/mountinfo", OTHER_MOUNTS V2_MOUNT);
    put("/sys/fs/cgroup/user.slice/session/cpu.max", "300000 100000\n");
    done(3);
}

static void v2_rounds_up(void) {
    tree_make();
    put("/proc/self/cgroup", "0::/g\n");
    put("/proc/self/mountinfo", V2_MOUNT);
    put("/sys/fs/cgroup/g/cpu.max", "150001 100000\n");
    done(2);
}

static void v2_less_than_one(void) {
    tree_make();
    put("/proc/self/cgroup", "0::/g\n");
    put("/proc/self/mountinfo", V2_MOUNT);
    put("/sys/fs/cgroup/g/cpu.max", "5000 100000\n");
    done(1);
}

static void v2_ancestor_is_stricter(void) {
    tree_make();
    put("/proc/self/cgroup", "0::/a/b/c\n");
    put("/proc/self/mountinfo", V2_MOUNT);
    put("/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/cpu.max", "400000 200000\n");
    done(2);
}

/* A container with a cgroup namespace: the group is the root of the mount. */
static void v2_namespace(void) {
    tree_make();
    put("/proc/self/cgroup", "0::/\n");
    put("/proc/self/mountinfo", V2_MOUNT);
    put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    done(2);
}

/* A process moved out of its namespace's root: only the mount point can be read. */
static void v2_outside_of_namespace(void) {
    tree_make();
    put("/proc/self/cgroup", "0::/../other\n");
    put("/proc/self/mountinfo", V2_MOUNT);
    put("/sys/fs/cgroup/cpu.max", "500000 100000\n");
    done(5);
}

/* A container without a cgroup namespace: the mount shows the container's group, but the path is
 * the host's. */
static void v2_bind_mounted_group(void) {
    tree_make();
    put("/proc/self/cgroup", "0::/docker/abc/inner\n");
    put("/proc/self/mountinfo",
        "40 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw,nsdelegate\n");
    put("/sys/fs/cgroup/inner/cpu.max", "600000 100000\n");
    put("/sys/fs/cgroup/cpu.max", "400000 100000\n");
    done(4);
}

static void v2_prefix_is_not_a_parent(void) {
    tree_make();
    put("/proc/self/cgroup", "0::/docker/abcdef\n");
    put("/proc/self/mountinfo", "40 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    put("/sys/fs/cgroup/def/cpu.max", "100000 100000\n");
    put("/sys/fs/cgroup/cpu.max", "700000 100000\n");
    done(7);
}

static void v2_blank_in_mount_point(void) {
    tree_make();
    put("/proc/self/cgroup", "0::/g\n");
    put("/proc/self/mountinfo", "40 23 0:26 / /my\\040cgroups ro - cgroup2 cgroup rw\n");
    put("/my cgroups/g/cpu.max", "200000 100000\n");
    done(2);
}

static void v1_quota(void) {
    tree_make();
    put("/proc/self/cgroup", "12:memory:/m\n5:cpu,cpuacct:/g\n3:cpuset:/s\n1:name=systemd:/x\n");
    put("/proc/self/mountinfo",
        OTHER_MOUNTS "31 30 0:27 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n"
                     "32 30 0:28 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
    put("/cg/cpu,cpuacct/g/cpu.cfs_quota_us", "250000\n");
    put("/cg/cpu,cpuacct/g/cpu.cfs_period_us", "100000\n");
    put("/cg/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    done(3);
}

static void v1_no_quota(void) {
    tree_make();
    put("/proc/self/cgroup", "5:cpu,cpuacct:/g\n");
    put("/proc/self/mountinfo", "32 30 0:28 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
    put("/cg/cpu/g/cpu.cfs_quota_us", "-1\n");
    put("/cg/cpu/g/cpu.cfs_period_us", "100000\n");
    done(0);
}

/* systemd's hybrid layout: controllers in version 1, an empty version 2 beside them. */
static void hybrid(void) {
    tree_make();
    put("/proc/self/cgroup", "5:cpu,cpuacct:/g\n0::/user\n");
    put("/proc/self/mountinfo", "31 30 0:27 / /cg/unified rw - cgroup2 cgroup2 rw\n"
                                "32 30 0:28 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
    put("/cg/unified/user/cgroup.procs", "");
    put("/cg/cpu/g/cpu.cfs_quota_us", "400000\n");
    put("/cg/cpu/g/cpu.cfs_period_us", "100000\n");
    done(4);
}

/* Docker hosts have thousands of mounts with long options; the wanted mount comes last. */
static void many_long_mounts(void) {
    tree_make();
    char *text = malloc(2000000), *at = text;
    for (int i = 0; i < 300; i++) {
        at += sprintf(at, "%d 1 0:9 / /overlay%d rw - overlay overlay rw,lowerdir=", i, i);
        for (int j = 0; j < 500; j++) at += sprintf(at, "/l%04d:", j);
        at += sprintf(at, "\n");
    }
    strcpy(at, V2_MOUNT);
    put("/proc/self/mountinfo", text);
    free(text);
    put("/proc/self/cgroup", "0::/g\n");
    put("/sys/fs/cgroup/g/cpu.max", "200000 100000\n");
    done(2);
}

static void nonsense_is_no_quota(void) {
    tree_make();
    put("/proc/self/cgroup", "garbage\n\n::\n0::/g");
    put("/proc/self/mountinfo", "x\n - \n1 2 3 - cgroup2\n" V2_MOUNT);
    put("/sys/fs/cgroup/g/cpu.max", "lots 0\n");
    put("/sys/fs/cgroup/cpu.max", "100000 0\n");
    done(0);
}

static void mask_counts(void) {
    uint64_t bits[CST_CPU_MASK_WORDS];
    size_t count = cst_cpu_mask_get(bits, CST_CPU_MASK_WORDS);
    UNIT_CHECK(count >= 1);
    UNIT_EQUAL(cst_cpu_affinity_count(), count);
    UNIT_CHECK(cst_cpu_available() >= 1);
    UNIT_CHECK(cst_cpu_available() <= count);
}

static void mask_binds(void) {
    uint64_t before[CST_CPU_MASK_WORDS], one[CST_CPU_MASK_WORDS] = {0}, after[CST_CPU_MASK_WORDS];
    UNIT_CHECK(cst_cpu_mask_get(before, CST_CPU_MASK_WORDS) >= 1);
    size_t word = 0;
    while (!before[word]) word++;
    one[word] = before[word] & -before[word];
    UNIT_CHECK(cst_cpu_mask_set(one, CST_CPU_MASK_WORDS));
    UNIT_EQUAL(cst_cpu_mask_get(after, CST_CPU_MASK_WORDS), 1);
    UNIT_CHECK(memcmp(one, after, sizeof one) == 0);
    UNIT_EQUAL(cst_cpu_affinity_count(), 1);
    UNIT_EQUAL(cst_cpu_available(), 1);
    memset(one, 0, sizeof one);
    UNIT_CHECK(!cst_cpu_mask_set(one, CST_CPU_MASK_WORDS)); /* no processor at all */
    UNIT_CHECK(cst_cpu_mask_set(before, CST_CPU_MASK_WORDS));
}

/* --- a thread behind the caller ----------------------------------------------------------- */

static bool watched;
static cpu_set_t asked[4];
static int calls;
static pthread_t of;

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set) {
    if (!watched) return sched_setaffinity(0, size, set) == 0 ? 0 : errno;
    if (calls < 4) memcpy(&asked[calls], set, size < sizeof *asked ? size : sizeof *asked);
    of = thread;
    calls++;
    return 0;
}

static void part_watched(void) {
    calls = 0;
    watched = true;
    cst_cpu_part(pthread_self());
    watched = false;
}

/* The mask is set without the caller's processor, and then set back. */
static void another_thread_is_parted(void) {
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    part_watched();
    if (CPU_COUNT(&all) < 2) {
        UNIT_EQUAL(calls, 0);
        return;
    }
    UNIT_EQUAL(calls, 2);
    UNIT_CHECK(pthread_equal(of, pthread_self()));
    UNIT_EQUAL(CPU_COUNT(&asked[0]), CPU_COUNT(&all) - 1);
    UNIT_CHECK(CPU_EQUAL(&asked[1], &all));
    CPU_AND(&all, &all, &asked[0]);
    UNIT_CHECK(CPU_EQUAL(&asked[0], &all));
}

static void nobody_is_parted_on_one_processor(void) {
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    int processor = 0;
    while (!CPU_ISSET(processor, &all)) processor++;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
    part_watched();
    sched_setaffinity(0, sizeof all, &all);
    UNIT_EQUAL(calls, 0);
}

int main(void) {
    unit_limit(60);
    UNIT_RUN(nothing_there);
    UNIT_RUN(v2_without_quota);
    UNIT_RUN(v2_own_group);
    UNIT_RUN(v2_rounds_up);
    UNIT_RUN(v2_less_than_one);
    UNIT_RUN(v2_ancestor_is_stricter);
    UNIT_RUN(v2_namespace);
    UNIT_RUN(v2_outside_of_namespace);
    UNIT_RUN(v2_bind_mounted_group);
    UNIT_RUN(v2_prefix_is_not_a_parent);
    UNIT_RUN(v2_blank_in_mount_point);
    UNIT_RUN(v1_quota);
    UNIT_RUN(v1_no_quota);
    UNIT_RUN(hybrid);
    UNIT_RUN(many_long_mounts);
    UNIT_RUN(nonsense_is_no_quota);
    UNIT_RUN(mask_counts);
    UNIT_RUN(mask_binds);
    UNIT_RUN(another_thread_is_parted);
    UNIT_RUN(nobody_is_parted_on_one_processor);
    return unit_result();
}
