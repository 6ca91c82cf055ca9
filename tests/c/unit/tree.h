/* An invented tree of the kernel's files, /proc and /sys, below its own folder. */
#ifndef TREE_H
#define TREE_H

#include "unit.h"

#include <sys/stat.h>

static char root[64];

static void tree_make(void) {
    strcpy(root, "/tmp/capstan-unit.XXXXXX");
    UNIT_CHECK(mkdtemp(root) != NULL);
}

static void put(const char *path, const char *text) {
    char file[512];
    snprintf(file, sizeof file, "%s%s", root, path);
    for (char *slash = file + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(file, 0700);
        *slash = '/';
    }
    FILE *out = fopen(file, "w");
    UNIT_CHECK(out != NULL);
    fputs(text, out);
    fclose(out);
}

static void tree_remove(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    UNIT_EQUAL(system(command), 0);
}

#endif
