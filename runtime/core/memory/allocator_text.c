/* The grammar of OMP_ALLOCATOR (OpenMP 5.1, section 6.22): a predefined allocator, or a memory
 * space with traits, as in omp_default_mem_space:alignment=64,fallback=null_fb. */
#include "core/memory/allocator.h"
#include "core/base/message.h"
#include "core/base/parse.h"

#include <ctype.h>

static const struct cst_word allocators[] = {{"omp_default_mem_alloc", 1},
                                             {"omp_large_cap_mem_alloc", 2},
                                             {"omp_const_mem_alloc", 3},
                                             {"omp_high_bw_mem_alloc", 4},
                                             {"omp_low_lat_mem_alloc", 5},
                                             {"omp_cgroup_mem_alloc", 6},
                                             {"omp_pteam_mem_alloc", 7},
                                             {"omp_thread_mem_alloc", 8},
                                             {"ompx_gnu_pinned_mem_alloc", 200},
                                             {"ompx_gnu_managed_mem_alloc", 201},
                                             {NULL, 0}};

/* A space's value is the allocator that is named after it. */
static const struct cst_word spaces[] = {{"omp_default_mem_space", 1},
                                         {"omp_large_cap_mem_space", 2},
                                         {"omp_const_mem_space", 3},
                                         {"omp_high_bw_mem_space", 4},
                                         {"omp_low_lat_mem_space", 5},
                                         {"ompx_gnu_managed_mem_space", 201},
                                         {NULL, 0}};

enum trait { SYNC_HINT, ALIGNMENT, ACCESS, POOL_SIZE, FALLBACK, PINNED, PARTITION };

static const struct cst_word traits[] = {{"sync_hint=", SYNC_HINT}, {"alignment=", ALIGNMENT},
                                         {"access=", ACCESS},       {"pool_size=", POOL_SIZE},
                                         {"fallback=", FALLBACK},   {"pinned=", PINNED},
                                         {"partition=", PARTITION}, {NULL, 0}};
static const struct cst_word hints[] = {
    {"contended", 0}, {"uncontended", 0}, {"serialized", 0}, {"private", 0}, {NULL, 0}};
static const struct cst_word accesses[] = {
    {"all", 0}, {"cgroup", 0}, {"pteam", 0}, {"thread", 0}, {NULL, 0}};
static const struct cst_word fallbacks[] = {{"default_mem_fb", CST_FALLBACK_DEFAULT},
                                            {"null_fb", CST_FALLBACK_NULL},
                                            {"abort_fb", CST_FALLBACK_ABORT},
                                            {"allocator_fb", CST_FALLBACK_ALLOCATOR},
                                            {NULL, 0}};
static const struct cst_word truths[] = {{"true", 1}, {"false", 0}, {NULL, 0}};
static const struct cst_word partitions[] = {{"environment", CST_PARTITION_ENVIRONMENT},
                                             {"nearest", CST_PARTITION_NEAREST},
                                             {"blocked", CST_PARTITION_BLOCKED},
                                             {"interleaved", CST_PARTITION_INTERLEAVED},
                                             {NULL, 0}};

/* Consumes one trait. */
static bool parse_trait(const char **at, struct cst_allocator_traits *made) {
    uint64_t trait, value = 0;
    if (isspace((unsigned char)**at) || !cst_parse_word_at(at, traits, &trait)) return false;
    switch ((enum trait)trait) {
    case SYNC_HINT:
        return cst_parse_word_at(at, hints, &value);
    case ACCESS:
        return cst_parse_word_at(at, accesses, &value);
    case ALIGNMENT:
        if (!cst_parse_number_at(at, &value) || value == 0) return false;
        made->alignment = value;
        return true;
    case POOL_SIZE:
        if (!cst_parse_number_at(at, &value) || value == 0) return false;
        made->pool_size = value;
        return true;
    case FALLBACK:
        if (!cst_parse_word_at(at, fallbacks, &value)) return false;
        made->fallback = (enum cst_fallback)value;
        return true;
    case PINNED:
        if (!cst_parse_word_at(at, truths, &value)) return false;
        made->pinned = value;
        return true;
    case PARTITION:
        if (!cst_parse_word_at(at, partitions, &value)) return false;
        made->partition = (enum cst_partition)value;
        return true;
    }
    return false;
}

static bool wrong(const char *text, const char *at) {
    if (*at == '\0')
        cst_message_openmp("Missing value at the end of environment variable OMP_ALLOCATOR=%s",
                           text);
    else
        cst_message_openmp("Invalid value for environment variable OMP_ALLOCATOR when parsing: %s",
                           at);
    return false;
}

/* Makes an allocator. If that fails, prints a message and returns the default one. */
static cst_allocator_handle make(const struct cst_allocator_traits *made) {
    bool sound = (made->alignment & (made->alignment - 1)) == 0;
    cst_allocator_handle allocator = sound ? cst_allocator_make(made) : CST_ALLOCATOR_NULL;
    if (allocator != CST_ALLOCATOR_NULL) return allocator;
    cst_message_openmp("Allocator of environment variable OMP_ALLOCATOR cannot be created, using "
                       "omp_default_mem_alloc instead");
    return CST_ALLOCATOR_DEFAULT;
}

bool cst_allocator_parse(const char *text, cst_allocator_handle *allocator) {
    const char *at = text;
    uint64_t number;
    if (cst_parse_word(text, allocators, &number) || cst_parse_word(text, spaces, &number)) {
        *allocator = number;
        return true;
    }
    if (!cst_parse_word_at(&at, spaces, &number) || *at != ':') {
        cst_message_openmp("Invalid value for environment variable OMP_ALLOCATOR");
        return false;
    }
    struct cst_allocator_traits made = {.alignment = sizeof(void *),
                                        .pool_size = SIZE_MAX,
                                        .fallback = CST_FALLBACK_DEFAULT,
                                        .fallback_allocator = CST_ALLOCATOR_DEFAULT,
                                        .managed = number == CST_ALLOCATOR_MANAGED};
    do {
        at++;
        if (!parse_trait(&at, &made)) return wrong(text, at);
    } while (*at == ',');
    if (*cst_parse_blanks(at) != '\0') return wrong(text, at);
    if (made.alignment < sizeof(void *) && (made.alignment & (made.alignment - 1)) == 0)
        made.alignment = sizeof(void *);
    *allocator = make(&made);
    return true;
}
