/* Files in memory for code that reads /proc, /sys and cgroups. The linker's --wrap directs open(2),
 * read(2), close(2) and statfs(2) of the runtime's objects here; other callers reach the C library.
 *
 * A path means the first file of the table whose name is the end of the path. */
#ifndef FUZZ_FILES_H
#define FUZZ_FILES_H

#include "fuzz.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/vfs.h>
#include <unistd.h>

struct file {
    const char *ending;
    char *text;
};

static struct {
    struct file *files;
    size_t count;
    size_t chunk;         /* read(2) returns at most this number of bytes */
    unsigned long system; /* the answer of statfs(2) for any path; 0: no such path */
    const char *rest[4];  /* for each descriptor, the text that is not yet read */
} fake;

enum { FIRST_FD = 100000 };

int __real_open(const char *path, int flags, ...);
ssize_t __real_read(int fd, void *buffer, size_t size);
int __real_close(int fd);
int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
int __wrap_close(int fd);
int __wrap_statfs(const char *path, struct statfs *system);

static bool ends_with(const char *path, const char *ending) {
    size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcmp(path + length - tail, ending) == 0;
}

int __wrap_open(const char *path, int flags, ...) {
    if (!fake.files) {
        va_list more;
        va_start(more, flags);
        int mode = va_arg(more, int);
        va_end(more);
        return __real_open(path, flags, mode);
    }
    for (size_t i = 0; i < fake.count; i++) {
        if (!ends_with(path, fake.files[i].ending)) continue;
        for (int fd = 0; fd < 4; fd++)
            if (!fake.rest[fd]) {
                fake.rest[fd] = fake.files[i].text;
                return FIRST_FD + fd;
            }
        abort(); /* the runtime does not close its descriptors */
    }
    errno = ENOENT;
    return -1;
}

ssize_t __wrap_read(int fd, void *buffer, size_t size) {
    if (fd < FIRST_FD) return __real_read(fd, buffer, size);
    const char **rest = &fake.rest[fd - FIRST_FD];
    size_t got = strlen(*rest);
    if (got > size) got = size;
    if (got > fake.chunk) got = fake.chunk;
    memcpy(buffer, *rest, got);
    *rest += got;
    return (ssize_t)got;
}

int __wrap_close(int fd) {
    if (fd < FIRST_FD) return __real_close(fd);
    fake.rest[fd - FIRST_FD] = NULL;
    return 0;
}

int __wrap_statfs(const char *path, struct statfs *system) {
    (void)path;
    memset(system, 0, sizeof *system);
    system->f_type = (long)fake.system;
    return fake.system ? 0 : -1;
}

/* Fills the table from the input, with a text for each file. An empty text means that the file does
 * not exist. */
static void fake_begin(struct input *input, struct file *files, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        files[kept] = files[i];
        files[kept].text = next_text(input, 0xff);
        if (files[kept].text[0])
            kept++;
        else
            free(files[kept].text);
    }
    fake.files = files;
    fake.count = kept;
}

/* Everything that was opened must be closed by now. */
static void fake_end(void) {
    for (int fd = 0; fd < 4; fd++) CHECK(!fake.rest[fd]);
    for (size_t i = 0; i < fake.count; i++) free(fake.files[i].text);
    fake.files = NULL;
}

#endif
