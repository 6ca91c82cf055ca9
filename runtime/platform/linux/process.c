/* Names of processes that stay unique while the machine runs, and memory that processes of one user
 * share. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- identity -------------------------------------------------------------------------------- */

/* Linux has at most 2^22 numbers for processes, and reuses them. Together with the time of its
 * start, in ticks since the machine's start, a process has a name of its own. */
enum { PID_BITS = 24 };

static bool read_whole(const char *path, char *text, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t got = read(fd, text, size - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* In /proc/PID/stat the command's name is in parentheses, and may contain any character, also a
 * line feed. */
static uint64_t identity(pid_t pid, const char *path) {
    char text[1024];
    int saved = errno;
    bool known = read_whole(path, text, sizeof text);
    errno = saved;
    const char *after = known ? strrchr(text, ')') : NULL;
    if (!after || strlen(after) < 4) return 0;
    const char *state = after + 2, *field = state;
    if (*state == 'Z' || *state == 'X') return 0; /* ended, but its parent has not waited for it */
    for (int number = 3; field && number < 22; number++) {
        field = strchr(field, ' ');
        if (field) field++;
    }
    return field ? strtoull(field, NULL, 10) << PID_BITS | (uint64_t)pid : 0;
}

uint64_t cst_process_identity(void) {
    return identity(getpid(), "/proc/self/stat");
}

bool cst_process_lives(uint64_t named) {
    char path[32];
    pid_t pid = (pid_t)(named & ((1u << PID_BITS) - 1));
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    return identity(pid, path) == named;
}

/* --- shared memory --------------------------------------------------------------------------- */

/* The name contains the number of the namespace, since numbers of processes are valid only within a
 * namespace. */
static bool name_file(char *path, size_t size, const char *name) {
    char space[64] = "";
    ssize_t length = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    const char *number = length > 0 ? strchr(space, '[') : NULL;
    unsigned long of_space = number ? strtoul(number + 1, NULL, 10) : 0;
    return (size_t)snprintf(path, size, "/dev/shm/capstan-%u-%lu-%s", (unsigned)geteuid(), of_space,
                            name) < size;
}

/* The reason to refuse a file; NULL: none. Another user may have made a file or a link of this
 * name. */
static const char *reason_against(int fd) {
    struct stat file;
    if (fstat(fd, &file) != 0) return strerror(errno);
    if (!S_ISREG(file.st_mode) || file.st_nlink != 1) return "it is no ordinary file";
    if (file.st_uid != geteuid()) return "it belongs to another user";
    if (file.st_mode & 077) return "other users may open it";
    return NULL;
}

static void *map(int fd, size_t size, const char **reason) {
    struct stat file;
    /* The file grows and never shrinks: each process that maps it relies on its size. */
    if (fstat(fd, &file) != 0 || ((size_t)file.st_size < size && ftruncate(fd, (off_t)size) != 0)) {
        *reason = strerror(errno);
        return NULL;
    }
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) *reason = strerror(errno);
    return memory == MAP_FAILED ? NULL : memory;
}

void *cst_shared_memory(const char *name, size_t size, char *path, size_t path_size,
                        const char **reason) {
    int saved = errno;
    void *memory = NULL;
    *reason = "its name is too long";
    if (name_file(path, path_size, name)) {
        int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        *reason = fd < 0 ? strerror(errno) : reason_against(fd);
        if (!*reason) memory = map(fd, size, reason);
        if (fd >= 0) close(fd);
    }
    errno = saved;
    return memory;
}
