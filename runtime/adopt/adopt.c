/* The libraries with pools in the process; see adopt.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "adopt/adopt.h"

#include "adopt/foreign.h"
#include "core/front.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { LIBRARIES = 32 };

static struct {
    cst_lock lock;
    unsigned long long adds, subs; /* the dynamic linker's counts at the last look */
    struct cst_foreign libraries[LIBRARIES];
    _Atomic uint32_t count;
    uint32_t adopted;
} known;

/* --- pools that cannot be adopted: known by their files, and reported --------------------- */

#define UNTOLD "it has no call to use other threads"
static const struct {
    const char *file, *pool, *why;
} others[] = {
    {"libiomp5", "Intel's OpenMP", UNTOLD},
    {"libomp.", "LLVM's OpenMP", UNTOLD},
    {"libgomp-", "GCC's OpenMP", UNTOLD},
    {"libtbb.", "oneTBB", "it has threads of its own; from 2022 on it asks how many may run"},
    {"libblis", "BLIS", UNTOLD},
};

/* Does the library have threads of its own? MKL's files also export FFTW's names, but use threads
 * of the OpenMP runtime or of oneTBB. */
static bool has_own_threads(const char *file) {
    return strncmp(file, "libmkl_", strlen("libmkl_")) != 0;
}

static void name_other(struct cst_foreign *library) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(library->file, others[i].file, strlen(others[i].file)) == 0) {
            library->pool = others[i].pool;
            cst_store_relaxed(&library->why, others[i].why);
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

/* The libraries that are ready to be called. A library is in the dynamic linker's list before it is
 * ready: another thread may be loading it. */
enum trust {
    TRUST_MAKER, /* the library that makes a thread */
    TRUST_KNOWN, /* and libraries seen before: their loading has ended */
    TRUST_ALL
};

struct look {
    enum trust trust;
    uintptr_t maker;
    unsigned long long adds, subs;
    bool again; /* also without a new library: a waiting one may be ready */
    bool changed;
    uint64_t present; /* a bit for each known library */
};

const char cst_foreign_openmp[] = "it uses OpenMP";

bool cst_foreign_needs_openmp(const struct cst_elf *elf) {
    return cst_elf_needs(elf, "libgomp") || cst_elf_needs(elf, "libomp") ||
           cst_elf_needs(elf, "libiomp5");
}

static void take_over(struct cst_foreign *library, const struct cst_elf *elf) {
    if (cst_openblas_is(elf))
        cst_openblas_adopt(library, elf);
    else
        cst_fftw_adopt(library, elf);
    library->waits = false;
    if (!cst_load_relaxed(&library->why)) known.adopted++;
}

/* Makes the record of a library that has not been seen before; NULL: it has no known pool. */
static struct cst_foreign *examine(const struct cst_elf *elf) {
    uint32_t count = cst_load_relaxed(&known.count);
    if (count == LIBRARIES) return NULL;
    struct cst_foreign *library = &known.libraries[count];
    const char *file = last_part(elf->path);
    if (!has_own_threads(file)) return NULL;
    size_t length = strnlen(file, sizeof library->file - 1);
    memcpy(library->file, file, length);
    library->file[length] = '\0';
    library->begin = elf->begin;
    library->end = elf->end;
    if (cst_config.adopt & CST_ADOPT_OPENBLAS && cst_openblas_is(elf))
        library->pool = "OpenBLAS";
    else if (cst_config.adopt & CST_ADOPT_FFTW && cst_fftw_is(elf))
        library->pool = "FFTW";
    library->waits = library->pool != NULL;
    if (library->waits)
        cst_store_relaxed(&library->why, cst_foreign_needs_openmp(elf)
                                             ? cst_foreign_openmp
                                             : "it has made no thread since it was loaded");
    else
        name_other(library);
    if (!library->pool) return NULL;
    cst_store_release(&known.count, count + 1); /* pairs with the load in describe */
    return library;
}

static int visit(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    struct look *look = argument;
    look->changed = info->dlpi_adds != known.adds || info->dlpi_subs != known.subs;
    if (!look->changed && !look->again) return 1;
    look->adds = info->dlpi_adds;
    look->subs = info->dlpi_subs;
    struct cst_elf elf;
    if (!cst_elf_open(&elf, info)) return 0;
    struct cst_foreign *library = find(elf.begin);
    if (library && strcmp(library->file, last_part(elf.path)) != 0) {
        library->end = library->begin; /* another library lies there now */
        library = NULL;
    }
    bool ready = look->trust == TRUST_ALL || (look->trust == TRUST_KNOWN && library) ||
                 (look->maker >= elf.begin && look->maker < elf.end);
    if (!library) library = examine(&elf);
    if (!library) return 0;
    if (library->waits && ready) take_over(library, &elf);
    look->present |= UINT64_C(1) << (library - known.libraries);
    return 0;
}

static void forget_unloaded(const struct look *look) {
    for (uint32_t i = 0; i < cst_load_relaxed(&known.count); i++)
        if (!(look->present >> i & 1)) known.libraries[i].end = known.libraries[i].begin;
    known.adds = look->adds;
    known.subs = look->subs;
}

/* Returns the number of libraries adopted so far. */
static uint32_t look_through(enum trust trust, const void *maker) {
    cst_lock_acquire(&known.lock);
    struct look look = {.trust = trust, .maker = (uintptr_t)maker, .again = trust != TRUST_MAKER};
    struct cst_foreign *library = maker ? find(look.maker) : NULL;
    if (library && library->waits) look.again = true;
    dl_iterate_phdr(visit, &look);
    if (look.changed || look.again) forget_unloaded(&look);
    library = maker ? find(look.maker) : NULL;
    if (library) cst_add_relaxed(&library->made, 1);
    uint32_t adopted = known.adopted;
    cst_lock_release(&known.lock);
    return adopted;
}

uint32_t cst_adopt_look(const void *maker) {
    uint32_t adopted = look_through(TRUST_MAKER, maker);
    if (maker) return adopted;
    void *self = dlopen(NULL, RTLD_LAZY); /* waits for threads that load a library */
    if (self) dlclose(self);
    return look_through(TRUST_KNOWN, NULL);
}

/* --- the report --------------------------------------------------------------------------------
 */

/* Writes ,"pools":[...], or nothing. Libraries that do not fit are left out. */
static const char *describe(char *room, size_t size) {
    static const char begin[] = ",\"pools\":[", end[] = "]";
    size_t used = (size_t)snprintf(room, size, "%s", begin);
    uint32_t count = cst_load_acquire(&known.count);
    for (uint32_t i = 0; i < count; i++) {
        struct cst_foreign *library = &known.libraries[i];
        const char *why = cst_load_relaxed(&library->why);
        bool openmp = why == cst_foreign_openmp;
        if (openmp) why = NULL;
        int length = snprintf(room + used, size - used,
                              "%s{\"library\":\"%s\",\"pool\":\"%s\",\"sections\":%llu,\"largest\":"
                              "%u,\"made\":%u%s%s%s%s}",
                              i ? "," : "", library->file, library->pool,
                              (unsigned long long)cst_load_relaxed(&library->sections),
                              cst_load_relaxed(&library->largest), cst_load_relaxed(&library->made),
                              openmp ? ",\"openmp\":true" : "", why ? ",\"why\":\"" : "",
                              why ? why : "", why ? "\"" : "");
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
    look_through(TRUST_ALL, NULL); /* libraries loaded with the runtime are ready */
}
