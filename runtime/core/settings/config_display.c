/* The settings as text. OMP_DISPLAY_ENV has exactly libgomp's form, because scripts that compare
 * machines read it. */
#include "core/settings/config.h"

#include "core/settings/affinity_format.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/settings/place.h"
#include "platform/platform.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The text of libgomp in which a setting appears: always, only the verbose one, or neither. */
enum shown { SHOWN, SHOWN_VERBOSE, SHOWN_NEVER };

/* The devices that a setting holds for, as libgomp shows them. */
enum scope { HOST, ALL, NOBODY };

/* Since its release 13, libgomp shows the scope before each setting. It also shows num_teams and
 * its thread limit as they were at the start. A library that replaces an older release does
 * neither. */
#ifndef CST_GCC_RELEASE
#define CST_GCC_RELEASE __GNUC__
#endif
enum { SCOPED = CST_GCC_RELEASE >= 13 };

struct setting {
    const char *name;
    void (*show)(FILE *to);
    enum shown shown;
    enum scope scope;
};

static void show_boolean(FILE *to, bool value) {
    fputs(value ? "TRUE" : "FALSE", to);
}

static void show_number(FILE *to, uint64_t value) {
    fprintf(to, "%" PRIu64, value);
}

static void show_version(FILE *to) {
    fputs(CST_GCC_RELEASE >= 16 ? "202111" : "201511", to); /* of the compiler of that release */
}

static void show_dynamic(FILE *to) {
    show_boolean(to, cst_config.icv.dynamic == CST_DYNAMIC_ON);
}

static void show_nested(FILE *to) {
    show_boolean(to, cst_config.icv.max_active_levels > 1);
}

static void show_num_threads(FILE *to) {
    show_number(to, cst_config.icv.nthreads);
    for (size_t i = 1; i < cst_config.nthreads_list_length; i++)
        fprintf(to, ",%" PRIu32, cst_config.nthreads_list[i]);
}

/* The modifier is shown where it is not the kind's own, the chunk where it is not the default. */
static void show_schedule(FILE *to) {
    static const char *const names[] = {"", "STATIC", "DYNAMIC", "GUIDED", "AUTO"};
    const struct cst_icv *icv = &cst_config.icv;
    bool is_static = icv->run_sched_kind == CST_SCHEDULE_STATIC;
    if (icv->run_sched_monotonic && !is_static) fputs("MONOTONIC:", to);
    if (!icv->run_sched_monotonic && is_static) fputs("NONMONOTONIC:", to);
    fputs(names[icv->run_sched_kind], to);
    if (icv->run_sched_kind != CST_SCHEDULE_AUTO && icv->run_sched_chunk != !is_static)
        fprintf(to, ",%" PRId32, icv->run_sched_chunk);
}

static void show_proc_bind(FILE *to) {
    static const char *const names[] = {"FALSE", "TRUE", "MASTER", "CLOSE", "SPREAD"};
    fputs(names[cst_config.icv.bind], to);
    for (size_t i = 1; i < cst_config.bind_list_length; i++)
        fprintf(to, ",%s", names[cst_config.bind_list[i]]);
}

/* libgomp shows the places of GOMP_CPU_AFFINITY as OMP_PLACES, and GOMP_CPU_AFFINITY as empty. */
static void show_nothing(FILE *to) {
    (void)to;
}

static void show_places(FILE *to) {
    for (uint32_t i = 0; i < cst_places.count; i++) {
        const uint64_t *mask = cst_place_mask(&cst_places, i);
        size_t length = cst_mask_format(mask, cst_places.words, true, NULL, 0);
        char *text = cst_memory_get("a setting", length + 1);
        cst_mask_format(mask, cst_places.words, true, text, length + 1);
        fprintf(to, "%s{%s}", i ? "," : "", text);
        free(text);
    }
}

static void show_stack_size(FILE *to) {
    show_number(to, cst_config.stack_size_given);
}

static void show_wait_policy(FILE *to) {
    fputs(cst_config.wait_policy == CST_WAIT_ACTIVE ? "ACTIVE" : "PASSIVE", to);
}

static void show_thread_limit(FILE *to) {
    show_number(to, cst_config.icv.thread_limit);
}

static void show_max_active_levels(FILE *to) {
    show_number(to, cst_config.icv.max_active_levels);
}

static void show_num_teams(FILE *to) {
    show_number(to,
                SCOPED ? cst_config.num_teams_at_start : cst_load_relaxed(&cst_config.num_teams));
}

static void show_teams_thread_limit(FILE *to) {
    show_number(to, SCOPED ? cst_config.teams_thread_limit_at_start
                           : cst_load_relaxed(&cst_config.teams_thread_limit));
}

static void show_cancellation(FILE *to) {
    show_boolean(to, cst_config.cancellation);
}

static void show_default_device(FILE *to) {
    int32_t device = cst_config.icv.default_device;
    /* An older libgomp does not know the invalid device. */
    fprintf(to, "%" PRId32, device == CST_DEVICE_INVALID && !SCOPED ? CST_DEVICE_HOST : device);
}

static void show_max_task_priority(FILE *to) {
    show_number(to, cst_config.max_task_priority);
}

static void show_display_affinity(FILE *to) {
    show_boolean(to, cst_config.display_affinity);
}

static void show_affinity_format(FILE *to) {
    size_t length = cst_affinity_get_format(NULL, 0);
    char *text = cst_memory_get("a setting", length + 1);
    if (cst_affinity_get_format(text, length) < length) text[0] = '\0'; /* changed meanwhile */
    text[length] = '\0';
    fputs(text, to);
    free(text);
}

static void show_allocator(FILE *to) {
    static const char *const names[] = {"",        "default", "large_cap", "const", "high_bw",
                                        "low_lat", "cgroup",  "pteam",     "thread"};
    if (cst_config.allocator_text)
        fputs(cst_config.allocator_text, to);
    else
        fprintf(to, "omp_%s_mem_alloc", names[cst_config.icv.default_allocator]);
}

static void show_target_offload(FILE *to) {
    static const char *const names[] = {"DEFAULT", "MANDATORY", "DISABLED"};
    fputs(names[cst_config.target_offload], to);
}

static void show_spin_count(FILE *to) {
    show_number(to, cst_config.spin_count);
}

static void show_display_env(FILE *to) {
    static const char *const names[] = {"FALSE", "TRUE", "VERBOSE"};
    fputs(names[cst_config.display_env], to);
}

static void show_substrate(FILE *to) {
    static const char *const names[] = {"", "pthread", "rts"};
    fputs(names[cst_config.substrate], to);
}

static void show_capabilities(FILE *to) {
    show_number(to, cst_config.capabilities ? cst_config.capabilities : cst_config.available);
}

static void show_idle_ms(FILE *to) {
    show_number(to, cst_config.idle_ms);
}

static void show_batches(FILE *to) {
    show_boolean(to, cst_config.batches);
}

static void show_waiting(FILE *to) {
    const char *name;
    uint32_t bit;
    for (size_t i = 0; (name = cst_waiting_name(i, &bit)); i++)
        fprintf(to, "%s%s:%s", i ? "," : "", name, cst_config.wait_off & bit ? "off" : "on");
}

static void show_adopt(FILE *to) {
    static const char *const names[] = {"none",   "openblas",        "fftw",        "openblas,fftw",
                                        "onetbb", "openblas,onetbb", "fftw,onetbb", "all"};
    fputs(names[cst_config.adopt], to);
}

static void show_share(FILE *to) {
    fputs(cst_config.share[0] ? cst_config.share : "none", to);
}

static const struct setting settings[] = {
    {"_OPENMP", show_version, SHOWN, NOBODY},
    {"OMP_DYNAMIC", show_dynamic, SHOWN, HOST},
    {"OMP_NESTED", show_nested, SHOWN, HOST},
    {"OMP_NUM_THREADS", show_num_threads, SHOWN, HOST},
    {"OMP_SCHEDULE", show_schedule, SHOWN, HOST},
    {"OMP_PROC_BIND", show_proc_bind, SHOWN, HOST},
    {"OMP_PLACES", show_places, SHOWN, HOST},
    {"OMP_STACKSIZE", show_stack_size, SHOWN, HOST},
    {"OMP_WAIT_POLICY", show_wait_policy, SHOWN, HOST},
    {"OMP_THREAD_LIMIT", show_thread_limit, SHOWN, HOST},
    {"OMP_MAX_ACTIVE_LEVELS", show_max_active_levels, SHOWN, HOST},
    {"OMP_NUM_TEAMS", show_num_teams, SHOWN, HOST},
    {"OMP_TEAMS_THREAD_LIMIT", show_teams_thread_limit, SHOWN, HOST},
    {"OMP_CANCELLATION", show_cancellation, SHOWN, ALL},
    {"OMP_DEFAULT_DEVICE", show_default_device, SHOWN, ALL},
    {"OMP_MAX_TASK_PRIORITY", show_max_task_priority, SHOWN, ALL},
    {"OMP_DISPLAY_AFFINITY", show_display_affinity, SHOWN, ALL},
    {"OMP_AFFINITY_FORMAT", show_affinity_format, SHOWN, HOST},
    {"OMP_ALLOCATOR", show_allocator, SHOWN, HOST},
    {"OMP_TARGET_OFFLOAD", show_target_offload, SHOWN, ALL},
    {"GOMP_CPU_AFFINITY", show_nothing, SHOWN_VERBOSE, HOST},
    {"GOMP_STACKSIZE", show_stack_size, SHOWN_VERBOSE, HOST},
    {"GOMP_SPINCOUNT", show_spin_count, SHOWN_VERBOSE, HOST},
    {"OMP_DISPLAY_ENV", show_display_env, SHOWN_NEVER, HOST},
    {"CAPSTAN_SUBSTRATE", show_substrate, SHOWN_NEVER, HOST},
    {"CAPSTAN_CAPABILITIES", show_capabilities, SHOWN_NEVER, HOST},
    {"CAPSTAN_IDLE_MS", show_idle_ms, SHOWN_NEVER, HOST},
    {"CAPSTAN_BATCHES", show_batches, SHOWN_NEVER, HOST},
    {"CAPSTAN_WAIT", show_waiting, SHOWN_NEVER, HOST},
    {"CAPSTAN_ADOPT", show_adopt, SHOWN_NEVER, HOST},
    {"CAPSTAN_SHARE", show_share, SHOWN_NEVER, HOST},
};

enum { SETTINGS = sizeof settings / sizeof settings[0] };

static void show_line(const char *scope, const char *name, const char *value) {
    if (SCOPED && scope)
        fprintf(stderr, "  [%s] %s = '%s'\n", scope, name, value);
    else
        fprintf(stderr, "  %s = '%s'\n", name, value);
}

void cst_config_display(bool verbose) {
    flockfile(stderr);
    fputs("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n", stderr);
    for (size_t i = 0; i < SETTINGS; i++) {
        const struct setting *setting = &settings[i];
        if (setting->shown > (verbose ? SHOWN_VERBOSE : SHOWN)) continue;
        char *value = cst_config_format(setting->name);
        show_line(setting->scope == NOBODY ? NULL
                  : setting->scope == ALL  ? "all"
                                           : "host",
                  setting->name, value ? value : "");
        free(value);
        const struct cst_device_setting *other;
        for (size_t n = 0; SCOPED && (other = cst_config_device_setting(n)); n++)
            if (setting->scope == HOST && strcmp(other->name, setting->name) == 0)
                show_line(other->scope, other->name, other->value);
    }
    fputs("OPENMP DISPLAY ENVIRONMENT END\n", stderr);
    funlockfile(stderr);
}

const char *cst_config_setting_name(size_t n) {
    return n < SETTINGS ? settings[n].name : NULL;
}

char *cst_config_format(const char *name) {
    char *value = NULL;
    size_t length = 0;
    FILE *text = open_memstream(&value, &length);
    if (!text) return NULL;
    for (size_t i = 0; i < SETTINGS; i++)
        if (strcmp(settings[i].name, name) == 0) settings[i].show(text);
    return fclose(text) == 0 ? value : NULL;
}
