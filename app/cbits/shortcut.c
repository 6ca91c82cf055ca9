/* `capstan run PROGRAM [ARGS...]` without options; see shortcut.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "shortcut.h"

#include "place.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char runtime[] = "libgomp.so.1.0.0", substrate[] = "libcapstan-rts.so",
                  notice[] = "libcapstan-adopt.so";

/* The program's place in argv. 0 if there are options, or if there is no program. */
static int program_index(char *const argv[]) {
    if (!argv[0] || !argv[1] || strcmp(argv[1], "run") != 0 || !argv[2]) return 0;
    int index = strcmp(argv[2], "--") == 0 ? 3 : 2;
    const char *program = argv[index];
    return program && program[0] && (index == 3 || program[0] != '-') ? index : 0;
}

static bool is_file(const char *directory, const char *name) {
    char path[2 * PATH_MAX];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The folder of the runtime. CAPSTAN_LIBDIR names it, or it belongs to this executable, installed
 * or in make's build tree. */
static bool find_library(char folder[PATH_MAX]) {
    static const char *const places[] = {"../lib/capstan", "../lib"};
    char self[PATH_MAX], place[PATH_MAX + 32];
    const char *chosen = getenv("CAPSTAN_LIBDIR");
    if (chosen && chosen[0]) return realpath(chosen, folder) && is_file(folder, runtime);
    if (!cst_cli_own_file(self)) return false;
    char *slash = strrchr(self, '/');
    if (!slash) return false;
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(place, sizeof place, "%s/%s", self, places[i]);
        if (realpath(place, folder) && is_file(folder, runtime)) return is_file(folder, substrate);
    }
    return false;
}

/* The file that execvp(3) would take. */
static bool find_program(const char *name, char file[PATH_MAX], struct stat *status) {
    const char *path = strchr(name, '/') ? "" : getenv("PATH");
    if (!path || strlen(name) >= PATH_MAX) return false;
    for (;;) {
        size_t length = strcspn(path, ":");
        if (length + strlen(name) + 2 <= PATH_MAX) {
            snprintf(file, PATH_MAX, "%.*s%s%s", (int)length, path, length ? "/" : "", name);
            if (stat(file, status) == 0 && S_ISREG(status->st_mode) && access(file, X_OK) == 0)
                return true;
        }
        if (!path[length]) return false;
        path += length + 1;
    }
}

/* Whether the loader may ignore preloaded libraries. In that case Capstan.CLI.Run tells the
 * user. */
static bool is_privileged(const char *file, const struct stat *status) {
    return status->st_mode & (S_ISUID | S_ISGID) ||
           getxattr(file, "security.capability", NULL, 0) >= 0;
}

/* Whether the variable is not set, or empty. */
static bool is_open(const char *name) {
    const char *value = getenv(name);
    return !value || !value[0];
}

enum { PRELOADED = 5, PRELOAD_SIZE = PRELOADED * (PATH_MAX + 32) };

/* Writes the value of LD_PRELOAD: the runtime, the files with the names of LLVM's and Intel's
 * runtimes and of oneTBB's manager, and the library that notices libraries with pools. Files that
 * do not exist are left out. */
static void name_preload(char preload[PRELOAD_SIZE], const char *folder) {
    const char *const names[PRELOADED] = {runtime, "libcapstan-llvm.so", "libcapstan-intel.so",
                                          "libcapstan-tcm.so", notice};
    const char *adopt = getenv("CAPSTAN_ADOPT");
    bool adopts = !adopt || strcmp(adopt, "none") != 0;
    size_t used = 0;
    for (size_t i = 0; i < PRELOADED; i++)
        if ((names[i] != notice || adopts) && is_file(folder, names[i]))
            used += (size_t)snprintf(preload + used, PRELOAD_SIZE - used, "%s%s/%s",
                                     used ? ":" : "", folder, names[i]);
}

void cst_cli_shortcut(char *const argv[]) {
    char folder[PATH_MAX], file[PATH_MAX];
    char preload[PRELOAD_SIZE];
    struct stat status;
    int index = program_index(argv);
    if (!index || getenv("LD_PRELOAD")) return;
    if (!find_library(folder) || !cst_cli_is_plain(folder)) return;
    if (!find_program(argv[index], file, &status) || is_privileged(file, &status)) return;
    bool chosen = getenv("CAPSTAN_SUBSTRATE") != NULL, adopts = is_open("CAPSTAN_ADOPT");
    name_preload(preload, folder);
    setenv("LD_PRELOAD", preload, 1);
    if (!chosen) setenv("CAPSTAN_SUBSTRATE", "rts", 1);
    if (adopts) setenv("CAPSTAN_ADOPT", "all", 1);
    execvp(argv[index], argv + index);
    unsetenv("LD_PRELOAD");
    if (!chosen) unsetenv("CAPSTAN_SUBSTRATE");
    if (adopts) unsetenv("CAPSTAN_ADOPT");
}
