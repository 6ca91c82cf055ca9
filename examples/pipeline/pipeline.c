/* The C half of the pipeline: files are read when they are ready and counted by OpenMP tasks.
 *
 * For each block of a file there is a pair of tasks. The first waits for the file with `detach`: it
 * occupies no thread until the event manager completes it. The second, which depends on it, reads
 * and counts the block, and makes the next pair. So a slow pipe holds up no other file. When a file
 * is done, its number is written to a descriptor that Haskell watches. */
#include <capstan.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdint.h>
#include <unistd.h>

enum { BLOCK = 1 << 16 };

/* Main.hs reads the structure by the offsets of its fields. */
struct file {
    const char *name;
    int64_t bytes, words, lines;
    int32_t error; /* errno */
    int32_t fd;
    int32_t in_word;
    int32_t number;
};

static void count(struct file *file, const unsigned char *block, ssize_t length) {
    file->bytes += length;
    for (ssize_t i = 0; i < length; i++) {
        int space = isspace(block[i]) != 0;
        file->lines += block[i] == '\n';
        file->words += !space && !file->in_word;
        file->in_word = !space;
    }
}

static void report(struct file *file, int done) {
    if (file->fd >= 0) capstan_fd_close(NULL, file->fd);
    /* A pipe takes 4 bytes together or not at all. */
    while (write(done, &file->number, sizeof file->number) < 0 && errno == EINTR) continue;
}

static void next_block(struct file *file, int done) {
    omp_event_handle_t ready;
#pragma omp task detach(ready) depend(inout : *file) firstprivate(file)
    {
        int error = capstan_await_fd(file->fd, CAPSTAN_READ, (uintptr_t)ready);
        if (error != 0) {
            file->error = error;
            omp_fulfill_event(ready);
        }
    }
#pragma omp task depend(inout : *file) firstprivate(file, done)
    {
        unsigned char block[BLOCK];
        ssize_t length = file->error != 0 ? -1 : read(file->fd, block, sizeof block);
        if (length > 0) {
            count(file, block, length);
            next_block(file, done);
        } else {
            if (length < 0 && file->error == 0) file->error = errno;
            report(file, done);
        }
    }
}

void pipeline(struct file *files, int count_of_files, int done) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < count_of_files; i++) {
        files[i].number = i;
        /* Non-blocking, or opening a named pipe would wait for its writer. */
        files[i].fd = open(files[i].name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (files[i].fd < 0) {
            files[i].error = errno;
            report(&files[i], done);
        } else {
            next_block(&files[i], done);
        }
    }
}
