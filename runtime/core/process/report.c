/* The report of the runtime's work; see report.h. */
#include "core/process/report.h"

#include "core/host/host.h"
#include "core/settings/config.h"
#include "core/team/pool.h"
#include "core/team/threads.h"
#include "capstan.h"
#include "platform/platform.h"
#include "substrate/substrate.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINE = 4096, /* one write of this size to a pipe is atomic */
    POOLS = 1600
};

const char *(*cst_report_pools)(char *room, size_t size);

static uint64_t began;

void cst_report_start(void) {
    if (cst_config.report_fd >= 0) began = cst_clock_ns();
}

/* `text` as the inside of a JSON string; cut where the room ends. */
static const char *escape(const char *text, char *room, size_t size) {
    size_t used = 0;
    for (; *text && used + 7 < size; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            used += (size_t)snprintf(room + used, size - used, "\\%c", c);
        else if (c < 0x20)
            used += (size_t)snprintf(room + used, size - used, "\\u%04x", c);
        else
            room[used++] = *text;
    }
    room[used] = 0;
    return room;
}

static const char *own_path(char *room, size_t size) {
    Dl_info info;
    if (!dladdr((void *)cst_report_write, &info) || !info.dli_fname) return "";
    return escape(info.dli_fname, room, size);
}

/* Is the descriptor still ours? A program may have closed it, and opened a file of its own under
 * that number. */
static bool is_ours(int fd) {
    struct stat file;
    if (!cst_config.report_inode) return true;
    return fstat(fd, &file) == 0 && file.st_dev == cst_config.report_device &&
           file.st_ino == cst_config.report_inode;
}

void cst_report_write(const struct cst_substrate *substrate, const char *note) {
    if (cst_config.report_fd < 0) return;
    int saved = errno;
    if (!is_ours(cst_config.report_fd)) {
        errno = saved;
        return;
    }
    struct cst_totals totals = cst_thread_totals();
    char program[256], library[1024], reason[512], pools[POOLS], line[LINE];
    const char *ghc = substrate ? substrate->ghc_version : NULL;
    unsigned capabilities = substrate ? substrate->capabilities() : 0;
    int length = snprintf(
        line, sizeof line,
        "{\"capstan\":\"%s\",\"pid\":%ld,\"ppid\":%ld,\"program\":\"%s\",\"substrate\":\"%s\"%s%s%"
        "s,"
        "\"capabilities\":%u,\"haskell\":%s,\"regions\":%llu,\"by\":{\"gcc\":%llu,\"llvm\":%llu,"
        "\"adopted\":%llu},\"processors\":%u,\"threads\":%u,\"largest_team\":%u,\"tasks\":%llu,"
        "\"wall_ns\":%llu,\"library\":\"%s\"%s%s%s%s}\n",
        CAPSTAN_VERSION, (long)getpid(), (long)getppid(),
        escape(program_invocation_short_name, program, sizeof program),
        substrate ? substrate->name : "none", ghc ? ",\"ghc\":\"" : "", ghc ? ghc : "",
        ghc ? "\"" : "", capabilities, cst_host_is_haskell() ? "true" : "false",
        (unsigned long long)totals.regions, (unsigned long long)totals.regions_by[CST_FRONT_GOMP],
        (unsigned long long)totals.regions_by[CST_FRONT_KMP],
        (unsigned long long)totals.regions_by[CST_FRONT_ADOPT], cst_config.available,
        cst_pool_workers_made() + 1, totals.regions ? cst_pool_largest_team() : 0,
        (unsigned long long)totals.tasks, (unsigned long long)(cst_clock_ns() - began),
        own_path(library, sizeof library), note ? ",\"note\":\"" : "",
        note ? escape(note, reason, sizeof reason) : "", note ? "\"" : "",
        cst_report_pools ? cst_report_pools(pools, sizeof pools) : "");
    if (length > 0 && length < LINE) {
        ssize_t written = write(cst_config.report_fd, line, (size_t)length);
        (void)written; /* a reader that is gone loses the report alone */
    }
    errno = saved;
}
