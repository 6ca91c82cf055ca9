/* Paths; see place.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "place.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

bool cst_cli_own_file(char file[PATH_MAX]) {
    ssize_t length = readlink("/proc/self/exe", file, PATH_MAX);
    if (length > 0 && length < PATH_MAX) {
        file[length] = '\0';
        return true;
    }
    const char *given = (const char *)getauxval(AT_EXECFN);
    char folder[PATH_MAX] = "", path[2 * PATH_MAX];
    if (!given || (given[0] != '/' && !getcwd(folder, sizeof folder))) return false;
    snprintf(path, sizeof path, "%s%s%s", folder, folder[0] ? "/" : "", given);
    if (realpath(path, file)) return true;
    return snprintf(file, PATH_MAX, "%s", path) < PATH_MAX && access(file, X_OK) == 0;
}

bool cst_cli_is_plain(const char *path) {
    return !strpbrk(path, " :$");
}

/* Whether no other user can put another folder into the folder's place. */
static bool is_safe(const struct stat *status) {
    bool others_write = status->st_mode & (S_IWGRP | S_IWOTH);
    return S_ISDIR(status->st_mode) && (status->st_uid == 0 || status->st_uid == geteuid()) &&
           (!others_write || status->st_mode & S_ISVTX);
}

/* Makes a folder of the user's at `place`, in which no other user can write. */
static bool make_folder(const char *place, char folder[PATH_MAX]) {
    struct stat status;
    if (!place || place[0] != '/' || !cst_cli_is_plain(place)) return false;
    if (stat(place, &status) != 0 || !is_safe(&status)) return false;
    int length = snprintf(folder, PATH_MAX, "%s/capstan-%u", place, (unsigned)geteuid());
    if (length >= PATH_MAX || (mkdir(folder, 0755) != 0 && errno != EEXIST)) return false;
    return lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
           !(status.st_mode & (S_IWGRP | S_IWOTH));
}

/* FNV-1a: one name for each folder. */
static uint64_t hash(const char *text) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

static bool same_file(const char *one, const char *other, const char *file) {
    char path[2 * PATH_MAX];
    struct stat first, second;
    snprintf(path, sizeof path, "%s/%s", one, file);
    if (stat(path, &first) != 0) return false;
    snprintf(path, sizeof path, "%s/%s", other, file);
    return stat(path, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

bool cst_cli_link(const char *folder, const char *file, char link[PATH_MAX]) {
    const char *const places[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp", "/var/tmp",
                                  "/dev/shm"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char own[PATH_MAX];
        if (!make_folder(places[i], own)) continue;
        int length = snprintf(link, PATH_MAX, "%s/%016llx", own, (unsigned long long)hash(folder));
        if (length >= PATH_MAX || (symlink(folder, link) != 0 && errno != EEXIST)) continue;
        if (same_file(folder, link, file)) return true;
    }
    return false;
}
