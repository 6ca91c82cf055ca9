/* A library to be preloaded: it makes calls fail as they do when the system has no memory, threads
 * or descriptors left.
 *
 * With FAILING="memory once 17" the 17th call that gets memory fails. With "memory from 17" all
 * later calls fail too. With "system" in place of "memory", calls fail that map memory, make a
 * thread, or open a file or another descriptor. Calls of all threads are counted together, also
 * calls of the C library and of the dynamic loader. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* The C library exports these. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

enum set { NOTHING, MEMORY, SYSTEM };

static enum set chosen;
static bool from_then_on, is_read;
static long first, calls;

/* Returns the number of calls so far, of the kind that fails. */
long failing_calls(void);
long failing_calls(void) {
    return __atomic_load_n(&calls, __ATOMIC_RELAXED);
}

/* Lets no call fail from now on. */
void failing_ends(void);
void failing_ends(void) {
    __atomic_store_n(&chosen, NOTHING, __ATOMIC_RELAXED);
}

/* Runs before main, when the process has a single thread. */
static void read_setting(void) {
    if (!environ) return; /* the C library is not ready */
    is_read = true;
    const char *text = getenv("FAILING");
    if (!text) return;
    const char *space = strchr(text, ' ');
    if (!space) return;
    from_then_on = strncmp(space + 1, "from", 4) == 0;
    const char *number = strchr(space + 1, ' ');
    first = number ? atol(number) : 0;
    chosen = text[0] == 'm' ? MEMORY : SYSTEM;
}

static bool fails(enum set set) {
    if (!is_read) read_setting();
    if (set != __atomic_load_n(&chosen, __ATOMIC_RELAXED)) return false;
    long call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return call == first || (from_then_on && call > first);
}

static void *no_memory(void) {
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size) {
    return fails(MEMORY) ? no_memory() : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return fails(MEMORY) ? no_memory() : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    return fails(MEMORY) ? no_memory() : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return fails(MEMORY) ? no_memory() : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size) {
    return fails(MEMORY) ? no_memory() : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (fails(MEMORY)) return ENOMEM;
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    if (fails(SYSTEM)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int file, off_t offset)
    __attribute__((alias("mmap")));

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                   void *argument) {
    static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (fails(SYSTEM)) return EAGAIN;
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return next(thread, attributes, function, argument);
}

static int no_descriptor(void) {
    errno = EMFILE;
    return -1;
}

static int open_at(int folder, const char *path, int flags, va_list more) {
    int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, int) : 0;
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    if (fails(SYSTEM)) return no_descriptor();
    va_list more;
    va_start(more, flags);
    int file = open_at(folder, path, flags, more);
    va_end(more);
    return file;
}

int open(const char *path, int flags, ...) {
    if (fails(SYSTEM)) return no_descriptor();
    va_list more;
    va_start(more, flags);
    int file = open_at(AT_FDCWD, path, flags, more);
    va_end(more);
    return file;
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));

int epoll_create1(int flags) {
    return fails(SYSTEM) ? no_descriptor() : (int)syscall(SYS_epoll_create1, flags);
}

int eventfd(unsigned value, int flags) {
    return fails(SYSTEM) ? no_descriptor() : (int)syscall(SYS_eventfd2, value, flags);
}

int timerfd_create(int clock, int flags) {
    return fails(SYSTEM) ? no_descriptor() : (int)syscall(SYS_timerfd_create, clock, flags);
}

int pipe2(int ends[2], int flags) {
    return fails(SYSTEM) ? no_descriptor() : (int)syscall(SYS_pipe2, ends, flags);
}
