/* Loads the rts substrate for libgomp.so.1, which itself does not depend on GHC: from
 * libcapstan-rts.so in its own directory. A Haskell program has rts/host.c instead; GHC's driver
 * defines __GLASGOW_HASKELL__ for the C files of a package. */
#ifndef __GLASGOW_HASKELL__
#include "substrate/substrate.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char library[] = "libcapstan-rts.so";

/* The path of libgomp.so.1, or NULL. A relative path is valid only until the program changes its
 * directory, so the constructor makes it absolute. */
static const char *own_path;

/* Reads the path from the linker's list, which no thread changes meanwhile, as dladdr(3) would map
 * a part of libc that few programs need. The program itself has no name in the list. */
static const char *find_own_path(void) {
    Dl_info info;
    for (struct link_map *map = _r_debug.r_map; map; map = map->l_next)
        if (map->l_ld == _DYNAMIC && map->l_name[0]) return map->l_name;
    return dladdr((const void *)cst_rts_substrate, &info) ? info.dli_fname : NULL;
}

__attribute__((constructor)) static void keep_path(void) {
    static char absolute[PATH_MAX];
    own_path = find_own_path();
    if (!own_path || own_path[0] == '/') return;
    int saved = errno;
    char folder[PATH_MAX];
    /* realpath reads links, which a sandbox may refuse. */
    if (!realpath(own_path, absolute) &&
        (!getcwd(folder, sizeof folder) ||
         snprintf(absolute, sizeof absolute, "%s/%s", folder, own_path) >= (int)sizeof absolute))
        absolute[0] = '\0';
    own_path = absolute[0] ? absolute : NULL;
    errno = saved;
}

/* The library is never unloaded, as threads of the RTS live in it. */
static void *open_library(const char *file) {
    return dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/* dlopen replaces $ORIGIN, $LIB and similar words in a path, and there is no escape for them. So it
 * gets another path of the folder. */
static void *open_in(const char *folder) {
    char file[sizeof library + 64];
    int descriptor = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return NULL;
    snprintf(file, sizeof file, "/proc/self/fd/%d/%s", descriptor, library);
    void *handle = open_library(file);
    close(descriptor);
    return handle;
}

/* Opens the library beside the file `path`. NULL: it is not there, or cannot be loaded. */
static void *open_beside(const char *path) {
    char file[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    if (length + sizeof library > sizeof file) return NULL;
    memcpy(file, path, length);
    file[length] = '\0';
    if (strchr(file, '$')) return open_in(file);
    memcpy(file + length, library, sizeof library);
    return open_library(file);
}

/* The space for GHC's libraries and their memory; a host with less room keeps its room. */
enum { ROOM_PAGES = 160 * 1024 * 1024 / 4096 };

/* Counts the mapped pages, without the memory that stdio would take. */
static unsigned long pages_mapped(void) {
    char text[64] = "";
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    return length > 0 ? strtoul(text, NULL, 10) : 0;
}

static bool has_room(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return true;
    return limit.rlim_cur / (rlim_t)sysconf(_SC_PAGESIZE) > pages_mapped() + ROOM_PAGES;
}

static const struct cst_substrate *load(const char **reason) {
    static char message[512];
    if (dlsym(RTLD_DEFAULT, "__tsan_init")) {
        *reason = "ThreadSanitizer does not see how GHC's threads wait for each other, and would "
                  "report their every step";
        return NULL;
    }
    if (!has_room()) {
        *reason = "no address space for GHC's runtime system (ulimit -v)";
        return NULL;
    }
    const char *path = own_path;
    if (!path) {
        *reason = "the path of libgomp.so.1 is unknown";
        return NULL;
    }
    void *handle = open_beside(path);
    if (!handle) {
        const char *error = dlerror();
        snprintf(message, sizeof message, "%s",
                 error ? error : "the folder of libgomp.so.1 cannot be opened");
        *reason = message;
        /* libgomp.so.1 may be a link from another folder. */
        char file[PATH_MAX];
        if (realpath(path, file) && strcmp(file, path) != 0) handle = open_beside(file);
    }
    if (!handle) return NULL;
    const struct cst_substrate *(*entry)(size_t);
    *(void **)&entry = dlsym(handle, "cst_rts_entry");
    const struct cst_substrate *substrate = entry ? entry(sizeof *substrate) : NULL;
    if (!substrate) *reason = "libcapstan-rts.so is of another version";
    return substrate;
}

const struct cst_substrate *cst_rts_substrate(const char **reason) {
    int saved = errno;
    const struct cst_substrate *substrate = load(reason);
    errno = saved;
    return substrate;
}

bool cst_rts_is_host(void) {
    return false;
}

#endif
