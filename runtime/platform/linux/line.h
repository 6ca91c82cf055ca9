/* Reads the first line of a small file of the kernel in /proc, /sys or a cgroup. */
#ifndef CST_PLATFORM_LINUX_LINE_H
#define CST_PLATFORM_LINUX_LINE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* False: the file cannot be read, or is empty. */
static inline bool first_line(const char *path, char *text, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t got = read(fd, text, size - 1);
    close(fd);
    if (got <= 0) return false;
    text[got] = '\0';
    char *end = strchr(text, '\n');
    if (end) *end = '\0';
    return true;
}

#endif
