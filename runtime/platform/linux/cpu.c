/* The number of processors that this process may use: the affinity mask has them (cpu_mask.c), and
 * the cgroup's CPU quota bounds their number.
 *
 * The mask does not show a container's quota: a process may be allowed to run on 64 processors,
 * with a quota for two. The kernel throttles threads beyond the quota together, so it bounds the
 * default number of threads. Both cgroup versions are read, for this group and all its
 * ancestors. */
#include "platform/linux/line.h"
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Puts `text` at `path + length`; false, and no change, if there is no room. */
static bool append(char *path, size_t size, size_t length, const char *text) {
    size_t more = strlen(text);
    if (length + more >= size) return false;
    memcpy(path + length, text, more + 1);
    return true;
}

/* --- lines of a file in /proc, without allocating ---------------------------------------
 *
 * Most of the runtime's cost for a tiny program is the pages of libc that its first call maps, and
 * the pages of its stack that the call touches. So there is no strcspn(3), whose code and table lie
 * apart, and one buffer serves the path and the lines. */

struct lines {
    int fd;
    size_t begin, end;         /* the part of the buffer not yet handed out */
    char buffer[2 * PATH_MAX]; /* touched only as far as it is filled */
};

static bool lines_open(struct lines *lines, const char *root, const char *path) {
    lines->begin = lines->end = 0;
    if (!append(lines->buffer, PATH_MAX, 0, root) ||
        !append(lines->buffer, PATH_MAX, strlen(root), path))
        return false;
    lines->fd = open(lines->buffer, O_RDONLY | O_CLOEXEC);
    return lines->fd >= 0;
}

/* The next line, with its end replaced by a zero; NULL at the end of the file. A line longer than
 * the buffer comes in pieces, none of which matches a search. */
static char *lines_next(struct lines *lines) {
    for (;;) {
        char *start = lines->buffer + lines->begin;
        char *newline = memchr(start, '\n', lines->end - lines->begin);
        bool full = lines->begin == 0 && lines->end == sizeof lines->buffer - 1;
        if (newline || full) {
            size_t length = newline ? (size_t)(newline - start) : lines->end;
            start[length] = '\0';
            lines->begin += length + (newline ? 1 : 0);
            return start;
        }
        memmove(lines->buffer, start, lines->end - lines->begin);
        lines->end -= lines->begin;
        lines->begin = 0;
        ssize_t got;
        do {
            got =
                read(lines->fd, lines->buffer + lines->end, sizeof lines->buffer - 1 - lines->end);
        } while (got < 0 && errno == EINTR);
        if (got > 0) {
            lines->end += (size_t)got;
            continue;
        }
        if (lines->end == 0) return NULL;
        lines->buffer[lines->end] = '\0'; /* a last line without an end */
        lines->begin = lines->end;
        return lines->buffer;
    }
}

static void lines_close(struct lines *lines) {
    close(lines->fd);
}

/* --- cgroups --------------------------------------------------------------------------- */

/* Is `word` one of the comma-separated words of `list`? */
static bool list_has(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *end; (end = strchr(list, ',')) != NULL; list = end + 1)
        if ((size_t)(end - list) == length && memcmp(list, word, length) == 0) return true;
    return strcmp(list, word) == 0;
}

/* mountinfo writes a blank, tab, newline and backslash as an octal escape. */
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
            from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* The version of the hierarchy that has the cpu controller, and this process's group in it; 0:
 * none. Lines have the form `hierarchy:controllers:path`. The line of version 2 names no
 * controllers. A hybrid system has that line too, but version 2 lacks the controllers that version
 * 1 has. */
static __attribute__((noinline)) int find_group(const char *root, char *group, size_t size) {
    struct lines lines;
    if (!lines_open(&lines, root, "/proc/self/cgroup")) return 0;
    int version = 0;
    for (char *line; version != 1 && (line = lines_next(&lines));) {
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) continue;
        *controllers++ = '\0';
        *path++ = '\0';
        int found = list_has(controllers, "cpu")                       ? 1
                    : strcmp(line, "0") == 0 && controllers[0] == '\0' ? 2
                                                                       : 0;
        if (found && append(group, size, 0, path)) version = found;
    }
    lines_close(&lines);
    return version;
}

/* Finds the mount of that hierarchy: the mount point, and the group that it shows there. Fields: id
 * parent device root mount-point options [tag...] - type source super-options. */
static bool group_mount(const char *root, int version, char *shown, char *point, size_t size) {
    struct lines lines;
    if (!lines_open(&lines, root, "/proc/self/mountinfo")) return false;
    bool found = false;
    for (char *line; !found && (line = lines_next(&lines));) {
        char *tail = strstr(line, " - ");
        if (!tail) continue;
        char type[32], options[1024];
        int fields = sscanf(tail, " - %31s %*s %1023s", type, options);
        if (fields < 1) continue;
        bool ours = version == 2
                        ? strcmp(type, "cgroup2") == 0
                        : fields == 2 && strcmp(type, "cgroup") == 0 && list_has(options, "cpu");
        if (!ours) continue;
        *tail = '\0';
        char *save, *field = strtok_r(line, " ", &save), *from = NULL, *to = NULL;
        for (int i = 0; field; i++, field = strtok_r(NULL, " ", &save)) {
            if (i == 3) from = field;
            if (i == 4) to = field;
        }
        if (!to) continue;
        unescape(from);
        unescape(to);
        found = (size_t)snprintf(shown, size, "%s", from) < size &&
                (size_t)snprintf(point, size, "%s", to) < size;
    }
    lines_close(&lines);
    return found;
}

/* A group's directory: the mount point and, from `top` on, the path below it. There is room for a
 * file's name. */
struct group_directory {
    char path[PATH_MAX + 32];
    size_t top;
};

/* The processors that one directory's quota pays for, rounded up; 0: it has no quota. */
static unsigned directory_quota(struct group_directory *directory, int version) {
    size_t length = strlen(directory->path);
    char text[64] = "", *end = text;
    long long quota = -1, period = 100000;
    append(directory->path, sizeof directory->path, length,
           version == 2 ? "/cpu.max" : "/cpu.cfs_quota_us");
    if (first_line(directory->path, text, sizeof text)) quota = strtoll(text, &end, 10);
    if (version == 1 && quota > 0) {
        append(directory->path, sizeof directory->path, length, "/cpu.cfs_period_us");
        if (first_line(directory->path, text, sizeof text)) end = text;
    }
    if (*end) period = strtoll(end, NULL, 10);
    directory->path[length] = '\0';
    if (quota <= 0 || period <= 0) return 0; /* "max" is no number, so 0 */
    long long processors = quota / period + (quota % period != 0);
    return processors < UINT_MAX ? (unsigned)processors : 0;
}

static bool set_directory(struct group_directory *directory, const char *root, const char *point,
                          const char *below) {
    if (strcmp(below, "/") == 0) below = "";
    directory->top = strlen(root) + strlen(point);
    return append(directory->path, PATH_MAX, 0, root) &&
           append(directory->path, PATH_MAX, strlen(root), point) &&
           append(directory->path, PATH_MAX, directory->top, below);
}

/* The group's directory at the customary mount points. False: it is not there. Then the mounts must
 * be searched, which takes the kernel longer than all other steps. */
static bool customary_directory(const char *root, int version, const char *group,
                                struct group_directory *directory) {
    static const char *const points[2][2] = {{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"},
                                             {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}};
    const unsigned long magic = version == 2 ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC;
    if (strstr(group, "/..")) return false;
    for (int i = 0; i < 2; i++) {
        struct statfs system;
        if (set_directory(directory, root, points[version - 1][i], group) &&
            statfs(directory->path, &system) == 0 && (unsigned long)system.f_type == magic)
            return true;
    }
    return false;
}

/* The group's directory, wherever the hierarchy is mounted. Its stack is large, so it is not part
 * of the caller's. */
static __attribute__((noinline)) bool mounted_directory(const char *root, int version,
                                                        const char *group,
                                                        struct group_directory *directory) {
    char shown[PATH_MAX], point[PATH_MAX];
    if (!group_mount(root, version, shown, point, sizeof point)) return false;

    /* The part of the group's path below the mounted group. For a group outside of the mount (as
     * seen from a cgroup namespace), only the mount point itself can be read. */
    size_t prefix = strcmp(shown, "/") == 0 ? 0 : strlen(shown);
    const char *below = "";
    if (strncmp(group, shown, prefix) == 0 && (group[prefix] == '/' || group[prefix] == '\0') &&
        !strstr(group, "/.."))
        below = group + prefix;
    return set_directory(directory, root, point, below);
}

/* The smallest quota of the group and its ancestors, as far as the mount shows them. */
unsigned cst_cpu_quota_below(const char *root) {
    int saved = errno;
    char group[PATH_MAX];
    struct group_directory directory;
    unsigned least = 0;
    int version = find_group(root, group, sizeof group);
    if (version != 0 && (customary_directory(root, version, group, &directory) ||
                         mounted_directory(root, version, group, &directory))) {
        for (;;) {
            unsigned quota = directory_quota(&directory, version);
            if (quota && (!least || quota < least)) least = quota;
            char *slash = strrchr(directory.path, '/');
            if (!slash || slash < directory.path + directory.top) break;
            *slash = '\0';
        }
    }
    errno = saved;
    return least;
}

unsigned cst_cpu_quota(void) {
    return cst_cpu_quota_below("");
}

unsigned cst_cpu_available(void) {
    unsigned allowed = cst_cpu_affinity_count(), paid = cst_cpu_quota();
    return paid && paid < allowed ? paid : allowed;
}
