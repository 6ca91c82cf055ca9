/* Finds the processors that share a core, a socket, a cache or a memory node, from Linux's /sys.
 *
 * The file does not use hwloc, which knows more: a library that replaces libgomp.so.1 must not load
 * another library into every OpenMP program. OMP_PLACES needs only four small files. */
#include "platform/linux/line.h"
#include "platform/platform.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_INDEXES = 128 };

/* Reads the first line of a file below root. False: there is none. */
static bool read_line(const char *root, const char *name, char *text, size_t size) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", root, name);
    return first_line(path, text, size);
}

/* Parses a decimal number. strtoul(3) alone would also accept a sign or blanks in front. */
static bool parse_number(const char **text, unsigned long *number) {
    char *end;
    if (!isdigit((unsigned char)**text)) return false;
    *number = strtoul(*text, &end, 10); /* ULONG_MAX if it does not fit */
    *text = end;
    return true;
}

/* Parses a list of the kernel's format, such as 0-3,8,10-11. Ignores numbers beyond the mask. */
static bool parse_list(const char *text, uint64_t *bits, size_t words) {
    memset(bits, 0, words * sizeof *bits);
    while (*text) {
        unsigned long first, last;
        if (!parse_number(&text, &first)) return false;
        last = first;
        if (*text == '-') {
            text++;
            if (!parse_number(&text, &last) || last < first) return false;
        }
        for (unsigned long i = first; i <= last && i < 64 * words; i++)
            bits[i / 64] |= (uint64_t)1 << i % 64;
        if (*text == '\0') return true;
        if (*text != ',') return false;
        text++;
    }
    return true;
}

static bool read_list(const char *root, const char *name, uint64_t *bits, size_t words) {
    char text[16384]; /* room for the longest list: every other one of 8192 processors */
    return read_line(root, name, text, sizeof text) && parse_list(text, bits, words);
}

/* The index of the last cache level, and the last of several at that level. -1: no cache is
 * known. */
static int last_cache(const char *root, unsigned processor) {
    int index = -1;
    long level = 0;
    for (int i = 0; i < CACHE_INDEXES; i++) {
        char name[128], text[32];
        snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%u/cache/index%d/level", processor,
                 i);
        if (!read_line(root, name, text, sizeof text)) break;
        long found = strtol(text, NULL, 10);
        if (found < level) continue;
        level = found;
        index = i;
    }
    return index;
}

bool cst_topology_group(const char *root, enum cst_topology level, unsigned processor,
                        uint64_t *bits, size_t words) {
    char name[128];
    int saved = errno, cache;
    switch (level) {
    case CST_TOPOLOGY_CORE:
        snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
                 processor);
        break;
    case CST_TOPOLOGY_SOCKET:
        snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%u/topology/core_siblings_list",
                 processor);
        break;
    case CST_TOPOLOGY_LAST_CACHE:
        cache = last_cache(root, processor);
        snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%u/cache/index%d/shared_cpu_list",
                 processor, cache);
        break;
    case CST_TOPOLOGY_NODE:
        snprintf(name, sizeof name, "/sys/devices/system/node/node%u/cpulist", processor);
        break;
    }
    bool known = read_list(root, name, bits, words);
    errno = saved;
    return known;
}

bool cst_topology_nodes(const char *root, uint64_t *bits, size_t words) {
    int saved = errno;
    bool known = read_list(root, "/sys/devices/system/node/online", bits, words);
    errno = saved;
    return known;
}
