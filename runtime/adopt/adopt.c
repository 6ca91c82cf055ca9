/* Which libraries with pools are in the process; see adopt.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "adopt/adopt.h"

#include "adopt/foreign.h"
#include "core/front.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { LIBRARIES = 32 };

static struct {
    cst_lock lock;
    unsigned long long adds, subs; /* the dynamic linker's counts, at the last look */
    struct cst_foreign libraries[LIBRARIES];
    _Atomic uint32_t count;
    uint32_t adopted;
} known;

/* --- pools that cannot be taken over: known by their files, and told of --------------------- */

static const struct {
    const char *file, *pool;
} others[] = {
    {"libmkl_", "MKL"},           {"libiomp5", "Intel's OpenMP"}, {"libomp.", "LLVM's OpenMP"},
    {"libgomp-", "GCC's OpenMP"}, {"libtbb.", "oneTBB"},          {"libblis", "BLIS"},
};

static void name_other(struct cst_foreign *library) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(library->file, others[i].file, strlen(others[i].file)) == 0) {
            library->pool = others[i].pool;
            cst_store_relaxed(&library->why, "it cannot be told whose threads to use");
        }
}

/* --- looking ---------------------------------------------------------------------------------- */

static struct cst_foreign *find(uintptr_t address) {
    for (uint32_t i = 0; i < cst_load_relaxed(&known.count); i++)
        if (address >= known.libraries[i].begin && address < known.libraries[i].end)
            return &known.libraries[i];
    return NULL;
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The record of a library that has not been seen before; NULL: it has no pool that we know. */
static struct cst_foreign *examine(const struct cst_elf *elf) {
    uint32_t count = cst_load_relaxed(&known.count);
    if (count == LIBRARIES) return NULL;
    struct cst_foreign *library = &known.libraries[count];
    snprintf(library->file, sizeof library->file, "%s", last_part(elf->path));
    library->begin = elf->begin;
    library->end = elf->end;
    if (cst_config.adopt & CST_ADOPT_OPENBLAS) cst_openblas_adopt(library, elf);
    if (!library->pool && cst_config.adopt & CST_ADOPT_FFTW) cst_fftw_adopt(library, elf);
    if (!library->pool) name_other(library);
    if (!library->pool) return NULL;
    if (!cst_load_relaxed(&library->why)) known.adopted++;
    cst_store_release(&known.count, count + 1); /* pairs with the load in describe */
    return library;
}

struct look {
    unsigned long long adds, subs;
    bool changed;
    uint64_t present; /* a bit for each known library */
};

static int visit(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    struct look *look = argument;
    if (info->dlpi_adds == known.adds && info->dlpi_subs == known.subs) return 1;
    look->changed = true;
    look->adds = info->dlpi_adds;
    look->subs = info->dlpi_subs;
    struct cst_elf elf;
    if (!cst_elf_open(&elf, info)) return 0;
    struct cst_foreign *library = find(elf.begin);
    if (library && strcmp(library->file, last_part(elf.path)) != 0) {
        library->end = library->begin; /* another lies there now */
        library = NULL;
    }
    if (!library) library = examine(&elf);
    if (library) look->present |= UINT64_C(1) << (library - known.libraries);
    return 0;
}

uint32_t cst_adopt_look(const void *maker) {
    cst_lock_acquire(&known.lock);
    struct look look = {0};
    dl_iterate_phdr(visit, &look);
    uint32_t count = cst_load_relaxed(&known.count);
    for (uint32_t i = 0; look.changed && i < count; i++)
        if (!(look.present >> i & 1)) known.libraries[i].end = known.libraries[i].begin;
    if (look.changed) {
        known.adds = look.adds;
        known.subs = look.subs;
    }
    struct cst_foreign *library = maker ? find((uintptr_t)maker) : NULL;
    if (library) cst_add_relaxed(&library->made, 1);
    uint32_t adopted = known.adopted;
    cst_lock_release(&known.lock);
    return adopted;
}

/* --- the report --------------------------------------------------------------------------------
 */

/* ,"pools":[...], or nothing; what does not fit is left out. */
static const char *describe(char *room, size_t size) {
    static const char begin[] = ",\"pools\":[", end[] = "]";
    size_t used = (size_t)snprintf(room, size, "%s", begin);
    uint32_t count = cst_load_acquire(&known.count);
    for (uint32_t i = 0; i < count; i++) {
        struct cst_foreign *library = &known.libraries[i];
        const char *why = cst_load_relaxed(&library->why);
        int length = snprintf(room + used, size - used,
                              "%s{\"library\":\"%s\",\"pool\":\"%s\",\"sections\":%llu,\"largest\":"
                              "%u,\"made\":%u%s%s%s}",
                              i ? "," : "", library->file, library->pool,
                              (unsigned long long)cst_load_relaxed(&library->sections),
                              cst_load_relaxed(&library->largest), cst_load_relaxed(&library->made),
                              why ? ",\"why\":\"" : "", why ? why : "", why ? "\"" : "");
        if (length < 0 || (size_t)length + sizeof end >= size - used) break;
        used += (size_t)length;
    }
    snprintf(room + used, size - used, "%s", count ? end : "");
    return count ? room : "";
}

/* --- start and fork ----------------------------------------------------------------------------
 */

static void before_fork(void) {
    cst_lock_acquire(&known.lock);
}

static void after_fork(void) {
    cst_lock_release(&known.lock);
}

void cst_adopt_start(void) {
    if (cst_config.adopt == 0) return;
    cst_report_pools = describe;
    pthread_atfork(before_fork, after_fork, after_fork);
    cst_adopt_look(NULL);
}
