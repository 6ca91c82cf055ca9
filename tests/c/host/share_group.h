/* The group of a test's processes that share processors (CAPSTAN_SHARE), and the group's file. */
#include "process.h"

static char group[40], path[200];

static void remove_file(void) {
    unlink(path);
}

/* Names a group of this process's own, whose file is removed when the process ends. */
static void name_group(void) {
    char space[64] = "";
    CHECK(readlink("/proc/self/ns/pid", space, sizeof space - 1) > 0);
    snprintf(group, sizeof group, "test-%d", (int)getpid());
    snprintf(path, sizeof path, "/dev/shm/capstan-%u-%lu-%s", (unsigned)geteuid(),
             strtoul(strchr(space, '[') + 1, NULL, 10), group);
    atexit(remove_file);
}
