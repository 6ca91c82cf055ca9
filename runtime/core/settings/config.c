/* Reads the environment into a constant struct, once, by one table. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "core/settings/config.h"

#include "core/settings/affinity_format.h"
#include "core/memory/allocator.h"
#include "core/base/bounds.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/settings/place.h"
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { SUPPORTED_LEVELS = UINT8_MAX }; /* max_active_levels is one byte */

struct cst_config cst_config = {
    .icv =
        {
            .nthreads = 1,
            .thread_limit = UINT32_MAX,
            .default_allocator = 1, /* omp_default_mem_alloc */
            .run_sched_kind = CST_SCHEDULE_DYNAMIC,
            .run_sched_chunk = 1,
            .max_active_levels = 1,
        },
    .available = 1,
    .batches = true,
    .idle_ms = 1000,
    .blocktime = 200,
    .report_fd = -1,
};

/* --- the table ------------------------------------------------------------------------- */

struct variable;
typedef bool reader(const struct variable *variable, const char *text);

struct variable {
    const char *name;
    reader *read; /* false: the value is wrong */
    bool speaks;  /* the reader prints a message of its own */
    bool scoped;  /* may have a suffix for devices (config_device.c) */
    void *field;  /* destination, and its size */
    size_t size;
    uint64_t least, most; /* of a number */
    uint64_t beyond;      /* replaces numbers above `most`; 0: they are wrong */
    const struct cst_word *words;
    const char *hidden_by; /* not read if this variable, an earlier one, was accepted */
    const char *allowed;   /* for Capstan's variables: the values, for the message */
};

static reader read_allocator, read_word, read_number, read_size, read_count, read_schedule,
    read_num_threads, read_proc_bind, read_places, read_processors, read_affinity_format,
    read_descriptor, read_report, read_waiting, read_adopt, read_share, read_nothing;

static const struct cst_word boolean[] = {{"true", 1}, {"false", 0}, {NULL, 0}};
static const struct cst_word wait_policies[] = {
    {"active", CST_WAIT_ACTIVE}, {"passive", CST_WAIT_PASSIVE}, {NULL, 0}};
static const struct cst_word displays[] = {{"true", CST_DISPLAY_ENV_YES},
                                           {"false", CST_DISPLAY_ENV_NO},
                                           {"verbose", CST_DISPLAY_ENV_VERBOSE},
                                           {NULL, 0}};
static const struct cst_word offloads[] = {{"default", CST_OFFLOAD_DEFAULT},
                                           {"mandatory", CST_OFFLOAD_MANDATORY},
                                           {"disabled", CST_OFFLOAD_DISABLED},
                                           {NULL, 0}};
static const struct cst_word substrates[] = {
    {"rts", CST_SUBSTRATE_RTS}, {"pthread", CST_SUBSTRATE_PTHREAD}, {NULL, 0}};

static bool nested;            /* OMP_NESTED, if OMP_MAX_ACTIVE_LEVELS is not given */
static int dump_fd = -1;       /* CAPSTAN_DUMP=fd:N; see cst_config_dump */
static uint32_t openacc_debug; /* GOMP_DEBUG: checked for libgomp's warning, else unused */

#define INTO(f) .field = &(f), .size = sizeof(f)
#define CONFIG(f) INTO(cst_config.f)
#define A_DESCRIPTOR "\"fd:N\", where N is an open file descriptor"

/* In the order in which libgomp reads them, so that warnings have its order. */
static const struct variable variables[] = {
    {.name = "OMP_SCHEDULE", .read = read_schedule, .speaks = true, .scoped = true},
    {"OMP_DYNAMIC", read_word, CONFIG(icv.dynamic), .words = boolean, .scoped = true},
    {"OMP_CANCELLATION", read_word, CONFIG(cancellation), .words = boolean},
    {"OMP_DISPLAY_AFFINITY", read_word, CONFIG(display_affinity), .words = boolean},
    {"OMP_DEFAULT_DEVICE", read_number, CONFIG(icv.default_device), 0, INT_MAX, .scoped = true},
    {"OMP_TARGET_OFFLOAD", read_word, CONFIG(target_offload), .words = offloads},
    {"OMP_MAX_TASK_PRIORITY", read_number, CONFIG(max_task_priority), 0, INT_MAX},
    {.name = "OMP_ALLOCATOR", .read = read_allocator, .speaks = true},
    {"OMP_THREAD_LIMIT", read_number, CONFIG(icv.thread_limit), 1, INT_MAX, .beyond = UINT32_MAX,
     .scoped = true},
    {"GOMP_DEBUG", read_number, INTO(openacc_debug), 0, INT_MAX},
    {.name = "OMP_NUM_THREADS", .read = read_num_threads, .scoped = true},
    {"OMP_NUM_TEAMS", read_number, CONFIG(num_teams), 1, INT_MAX, .scoped = true},
    {"OMP_TEAMS_THREAD_LIMIT", read_number, CONFIG(teams_thread_limit), 1, INT_MAX, .scoped = true},
    {.name = "OMP_PROC_BIND", .read = read_proc_bind, .scoped = true},
    {"OMP_MAX_ACTIVE_LEVELS", read_number, CONFIG(icv.max_active_levels), 0, SUPPORTED_LEVELS,
     .beyond = SUPPORTED_LEVELS, .scoped = true},
    {"OMP_NESTED", read_word, INTO(nested), .words = boolean, .hidden_by = "OMP_MAX_ACTIVE_LEVELS"},
    {.name = "OMP_PLACES", .read = read_places, .speaks = true},
    {.name = "GOMP_CPU_AFFINITY", .read = read_processors, .speaks = true},
    {.name = "OMP_AFFINITY_FORMAT", .read = read_affinity_format},
    {"OMP_WAIT_POLICY", read_word, CONFIG(wait_policy), .words = wait_policies, .scoped = true},
    {"GOMP_SPINCOUNT", read_count, CONFIG(spin_count)},
    {"OMP_STACKSIZE", read_size, CONFIG(stack_size_given), .scoped = true},
    {"GOMP_STACKSIZE", read_size, CONFIG(stack_size_given), .hidden_by = "OMP_STACKSIZE"},
    {"OMP_DISPLAY_ENV", read_word, CONFIG(display_env), .words = displays},
    {"CAPSTAN_SUBSTRATE", read_word, CONFIG(substrate), .words = substrates,
     .allowed = "\"rts\" or \"pthread\""},
    {"CAPSTAN_CAPABILITIES", read_number, CONFIG(capabilities), 1, UINT16_MAX,
     .allowed = "a number from 1 to 65535"},
    {"CAPSTAN_IDLE_MS", read_count, CONFIG(idle_ms),
     .allowed = "a number of milliseconds or \"infinite\""},
    {"CAPSTAN_BATCHES", read_word, CONFIG(batches), .words = boolean,
     .allowed = "\"true\" or \"false\""},
    {.name = "CAPSTAN_WAIT",
     .read = read_waiting,
     .allowed = "a list such as \"turns:off,spin:on\" of spin, yield, costs, rivals, haskell, "
                "apart, giveway, wake, newcomer, turns, patience, together, forks and all"},
    {.name = "CAPSTAN_ADOPT",
     .read = read_adopt,
     .allowed = "\"all\", \"none\", or a list of \"openblas\", \"fftw\" and \"onetbb\""},
    {.name = "CAPSTAN_SHARE",
     .read = read_share,
     .allowed = "\"none\", or a group's name: at most 31 letters, digits, \"-\" and \"_\""},
    {.name = "CAPSTAN_REPORT", .read = read_report, .allowed = A_DESCRIPTOR},
    {"CAPSTAN_DUMP", read_descriptor, INTO(dump_fd), .allowed = A_DESCRIPTOR},
    {.name = "CAPSTAN_LIBDIR", .read = read_nothing}, /* tells the command where this library is */
};

enum { VARIABLES = sizeof variables / sizeof variables[0] };

static enum cst_config_state states[VARIABLES];

/* --- readers --------------------------------------------------------------------------- */

static void store(const struct variable *variable, uint64_t value) {
    switch (variable->size) {
    case 1:
        *(uint8_t *)variable->field = (uint8_t)value;
        break;
    case 4:
        *(uint32_t *)variable->field = (uint32_t)value;
        break;
    case 8:
        *(uint64_t *)variable->field = value;
        break;
    }
}

static bool read_word(const struct variable *variable, const char *text) {
    uint64_t value;
    if (!cst_parse_word(text, variable->words, &value)) return false;
    store(variable, value);
    return true;
}

static bool read_number(const struct variable *variable, const char *text) {
    uint64_t most = variable->beyond ? LONG_MAX : variable->most, value;
    if (!cst_parse_number(text, variable->least, most, &value)) return false;
    store(variable, value > variable->most ? variable->beyond : value);
    return true;
}

static bool read_size(const struct variable *variable, const char *text) {
    uint64_t value;
    if (!cst_parse_size(text, &value)) return false;
    store(variable, value);
    return true;
}

static bool read_count(const struct variable *variable, const char *text) {
    uint64_t value;
    if (!cst_parse_count(text, &value)) return false;
    store(variable, value);
    return true;
}

static bool read_waiting(const struct variable *variable, const char *text) {
    (void)variable;
    return cst_waiting_parse(text, &cst_config.wait_off);
}

static bool read_affinity_format(const struct variable *variable, const char *text) {
    (void)variable;
    if (!cst_affinity_check(text)) return false;
    cst_affinity_set_format(text, strlen(text));
    return true;
}

/* [monotonic:|nonmonotonic:]kind[,chunk]. Like libgomp, it keeps the values before a bad chunk, and
 * has messages of its own. */
static bool read_schedule(const struct variable *variable, const char *text) {
    (void)variable;
    static const struct cst_word modifiers[] = {{"monotonic", 1}, {"nonmonotonic", 0}, {NULL, 0}};
    static const struct cst_word kinds[] = {{"static", CST_SCHEDULE_STATIC},
                                            {"dynamic", CST_SCHEDULE_DYNAMIC},
                                            {"guided", CST_SCHEDULE_GUIDED},
                                            {"auto", CST_SCHEDULE_AUTO},
                                            {NULL, 0}};
    struct cst_icv *icv = &cst_config.icv;
    uint64_t monotonic, kind, chunk;
    bool modified = cst_parse_word_at(&text, modifiers, &monotonic);
    if (modified) {
        text = cst_parse_blanks(text);
        if (*text++ != ':') goto unknown;
    }
    if (!cst_parse_word_at(&text, kinds, &kind)) goto unknown;
    icv->run_sched_kind = (uint8_t)kind;
    icv->run_sched_given = 1;
    /* A static schedule is monotonic unless the value says otherwise. */
    icv->run_sched_monotonic = modified ? monotonic : kind == CST_SCHEDULE_STATIC;

    text = cst_parse_blanks(text);
    if (*text == '\0') {
        icv->run_sched_chunk = kind != CST_SCHEDULE_STATIC;
        return true;
    }
    if (*text++ != ',') goto unknown;
    if (!cst_parse_number(text, 0, INT_MAX, &chunk)) {
        cst_message_openmp("Invalid value for chunk size in environment variable OMP_SCHEDULE");
        return false;
    }
    if (chunk == 0 && kind != CST_SCHEDULE_STATIC) chunk = 1;
    icv->run_sched_chunk = (int32_t)chunk;
    return true;
unknown:
    cst_message_openmp("Unknown value for environment variable OMP_SCHEDULE");
    return false;
}

static bool read_num_threads(const struct variable *variable, const char *text) {
    (void)variable;
    uint32_t *list = NULL;
    if (!cst_parse_number_list(text, CST_MOST_THREADS, &cst_config.icv.nthreads, &list,
                               &cst_config.nthreads_list_length))
        return false;
    cst_config.nthreads_list = list;
    cst_config.icv.nthreads_explicit = 1;
    return true;
}

static bool read_proc_bind(const struct variable *variable, const char *text) {
    (void)variable;
    static const struct cst_word kinds[] = {{"false", CST_BIND_FALSE},
                                            {"true", CST_BIND_TRUE},
                                            {"master", CST_BIND_PRIMARY},
                                            {"primary", CST_BIND_PRIMARY},
                                            {"close", CST_BIND_CLOSE},
                                            {"spread", CST_BIND_SPREAD},
                                            {NULL, 0}};
    uint8_t *list = NULL;
    if (!cst_parse_word_list(text, kinds, CST_BIND_PRIMARY, &cst_config.icv.bind, &list,
                             &cst_config.bind_list_length))
        return false;
    cst_config.bind_list = list;
    return true;
}

/* The text is kept if the allocator has no name. */
static bool read_allocator(const struct variable *variable, const char *text) {
    (void)variable;
    cst_allocator_handle allocator;
    if (!cst_allocator_parse(text, &allocator)) return false;
    cst_config.icv.default_allocator = allocator;
    if (allocator > CST_ALLOCATOR_PREDEFINED) {
        size_t size = strlen(text) + 1;
        cst_config.allocator_text = memcpy(cst_memory_get("a setting", size), text, size);
    }
    return true;
}

/* The caller checks a list that it will not use, as libgomp does. */
static bool places_are_idle(void) {
    bool unbound = cst_config_state("OMP_PROC_BIND") == CST_VARIABLE_ACCEPTED &&
                   cst_config.icv.bind == CST_BIND_FALSE;
    return unbound || cst_places.count > 0;
}

static bool read_places(const struct variable *variable, const char *text) {
    (void)variable;
    return cst_place_read(text, places_are_idle());
}

static bool read_processors(const struct variable *variable, const char *text) {
    (void)variable;
    return cst_place_read_processors(text, places_are_idle());
}

static bool read_descriptor(const struct variable *variable, const char *text) {
    static const struct cst_word prefix[] = {{"fd:", 0}, {NULL, 0}};
    uint64_t ignored, fd;
    if (!cst_parse_word_at(&text, prefix, &ignored)) return false;
    if (!cst_parse_number(text, 0, INT_MAX, &fd)) return false;
    store(variable, fd);
    return true;
}

/* fd:N, or fd:N:DEVICE:INODE, by which the runtime notices that the descriptor was closed and
 * reused. */
static bool read_report(const struct variable *variable, const char *text) {
    (void)variable;
    static const struct cst_word prefix[] = {{"fd:", 0}, {NULL, 0}};
    uint64_t ignored, fd, device = 0, inode = 0;
    if (!cst_parse_word_at(&text, prefix, &ignored)) return false;
    if (!cst_parse_number_at(&text, &fd) || fd > INT_MAX) return false;
    if (*text == ':') {
        text++;
        if (!cst_parse_number_at(&text, &device) || *text++ != ':') return false;
        if (!cst_parse_number_at(&text, &inode)) return false;
    }
    if (*cst_parse_blanks(text) != '\0') return false;
    /* A descriptor with a file's identity is the command's, and may have been closed since. */
    if (inode == 0 && fcntl((int)fd, F_GETFD) < 0) return false;
    cst_config.report_fd = (int)fd;
    cst_config.report_device = device;
    cst_config.report_inode = inode;
    return true;
}

/* all, none, or names with commas between them. */
static bool read_adopt(const struct variable *variable, const char *text) {
    (void)variable;
    static const struct cst_word whole[] = {
        {"all", CST_ADOPT_ALL}, {"none", CST_ADOPT_NONE}, {NULL, 0}};
    static const struct cst_word names[] = {{"openblas", CST_ADOPT_OPENBLAS},
                                            {"fftw", CST_ADOPT_FFTW},
                                            {"onetbb", CST_ADOPT_ONETBB},
                                            {NULL, 0}};
    uint64_t chosen = 0, name;
    if (!cst_parse_word(text, whole, &chosen)) {
        for (;;) {
            if (!cst_parse_word_at(&text, names, &name)) return false;
            chosen |= name;
            text = cst_parse_blanks(text);
            if (*text == '\0') break;
            if (*text++ != ',') return false;
        }
    }
    cst_config.adopt = (uint32_t)chosen;
    return true;
}

/* none, or a name, which becomes part of a file's name. */
static bool read_share(const struct variable *variable, const char *text) {
    (void)variable;
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t length = strspn(text, allowed);
    if (length == 0 || text[length] != '\0' || length >= sizeof cst_config.share) return false;
    if (strcmp(text, "none") == 0) return true;
    memcpy(cst_config.share, text, length + 1);
    return true;
}

static bool read_nothing(const struct variable *variable, const char *text) {
    (void)variable;
    (void)text;
    return true;
}

/* --- reading --------------------------------------------------------------------------- */

static bool is_ours(const char *name) {
    return strncmp(name, "CAPSTAN_", 8) == 0;
}

enum cst_config_state cst_config_state(const char *name) {
    for (size_t i = 0; i < VARIABLES; i++)
        if (strcmp(variables[i].name, name) == 0) return states[i];
    return CST_VARIABLE_UNKNOWN;
}

/* Is the value right, except that it is larger than any number of threads? */
static bool wants_too_many(const struct variable *variable, const char *text) {
    uint32_t first, *list = NULL;
    size_t length;
    if (variable->read != read_num_threads ||
        !cst_parse_number_list(text, INT_MAX, &first, &list, &length))
        return false;
    free(list);
    return true;
}

static bool accept(const struct variable *variable, const char *name, const char *text) {
    if (variable->read(variable, text)) return true;
    if (variable->allowed)
        cst_message("invalid value \"%s\" for environment variable %s: it must be %s; ignored",
                    text, name, variable->allowed);
    else if (wants_too_many(variable, text))
        cst_message_openmp("Invalid value for environment variable %s: %.100s asks for more "
                           "threads than the %d that a system can have",
                           name, text, CST_MOST_THREADS);
    else if (!variable->speaks)
        cst_message_openmp("Invalid value for environment variable %s", name);
    return false;
}

/* The value of OMP_x_ALL, which has been checked. It is for all devices, the host too; OMP_x
 * overrides it. */
static const char *for_all(const struct variable *variable) {
    const struct cst_device_setting *setting;
    for (size_t n = 0; variable->scoped && (setting = cst_config_device_setting(n)); n++)
        if (strcmp(setting->scope, "all") == 0 && strcmp(setting->name, variable->name) == 0) {
            char name[64];
            snprintf(name, sizeof name, "%s_ALL", variable->name);
            return getenv(name);
        }
    return NULL;
}

static enum cst_config_state read_variable(const struct variable *variable) {
    const char *text = getenv(variable->name), *all = for_all(variable);
    if (!text && !all) return CST_VARIABLE_ABSENT;
    /* A set-user-ID program ignores Capstan's variables, and GOMP_DEBUG. */
    bool trusted = !is_ours(variable->name) && variable->field != &openacc_debug;
    if (!trusted && !secure_getenv(variable->name)) return CST_VARIABLE_HIDDEN;
    if (variable->hidden_by && cst_config_state(variable->hidden_by) == CST_VARIABLE_ACCEPTED)
        return CST_VARIABLE_HIDDEN;
    if (text && is_ours(variable->name) && *text == '\0') return CST_VARIABLE_ABSENT;
    if (text && accept(variable, variable->name, text)) return CST_VARIABLE_ACCEPTED;
    if (all && variable->read(variable, all)) return CST_VARIABLE_ACCEPTED;
    return CST_VARIABLE_REJECTED;
}

size_t cst_config_scoped(const char *entry) {
    if (strncmp(entry, "OMP_", 4) != 0) return 0; /* most of the environment */
    for (size_t i = 0; i < VARIABLES; i++) {
        size_t length = strlen(variables[i].name);
        if (variables[i].scoped && strncmp(entry, variables[i].name, length) == 0) return length;
    }
    return 0;
}

static void keep_initial_teams(void) {
    cst_config.num_teams_at_start = cst_load_relaxed(&cst_config.num_teams);
    cst_config.teams_thread_limit_at_start = cst_load_relaxed(&cst_config.teams_thread_limit);
}

/* The reader writes into the configuration, so the function restores that afterwards. */
char *cst_config_value(const char *name, const char *shown_as, const char *text) {
    struct cst_config kept = cst_config;
    char *value = NULL;
    cst_config.nthreads_list_length = cst_config.bind_list_length = 0;
    for (size_t i = 0; i < VARIABLES; i++)
        if (strcmp(variables[i].name, name) == 0 && accept(&variables[i], shown_as, text)) {
            keep_initial_teams();
            value = cst_config_format(name);
        }
    if (cst_config.nthreads_list != kept.nthreads_list) free((void *)cst_config.nthreads_list);
    if (cst_config.bind_list != kept.bind_list) free((void *)cst_config.bind_list);
    cst_config = kept;
    return value;
}

/* Writes the names of Capstan's variables, with commas between them, as far as they fit. */
static void list_ours(char *text, size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < VARIABLES; i++) {
        size_t own = strlen(variables[i].name);
        if (!is_ours(variables[i].name) || length + own + 3 > size) continue;
        length += (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "",
                                   variables[i].name);
    }
}

/* Without this message nobody would notice a misspelt variable of Capstan. */
static void report_unknown(void) {
    for (char **entry = environ; entry && *entry; entry++) {
        if (!is_ours(*entry)) continue;
        char name[64];
        const char *end = strchr(*entry, '='); /* not strcspn(3): platform/linux/cpu.c */
        size_t length = end ? (size_t)(end - *entry) : strlen(*entry);
        if (length >= sizeof name) length = sizeof name - 1;
        memcpy(name, *entry, length);
        name[length] = '\0';
        if (!secure_getenv(name) || cst_config_state(name) != CST_VARIABLE_UNKNOWN) continue;
        char known[512];
        list_ours(known, sizeof known);
        cst_message("unknown environment variable %s; known are %s", name, known);
    }
}

static void choose_levels(void) {
    if (cst_config_state("OMP_MAX_ACTIVE_LEVELS") == CST_VARIABLE_ACCEPTED) return;
    bool several = cst_config.nthreads_list_length > 1 || cst_config.bind_list_length > 1;
    if (cst_config_state("OMP_NESTED") == CST_VARIABLE_ACCEPTED)
        cst_config.icv.max_active_levels = nested ? SUPPORTED_LEVELS : 1;
    else if (several)
        cst_config.icv.max_active_levels = SUPPORTED_LEVELS;
}

void cst_config_read(void) {
    cst_config_read_kmp_first();
    cst_config.icv.nthreads = cst_config.available = cst_cpu_affinity_count();
    cst_config.nthreads_source = CST_FROM_DEFAULT;

    cst_config_read_devices();
    for (size_t i = 0; i < VARIABLES; i++) states[i] = read_variable(&variables[i]);
    report_unknown();
    cst_config_read_kmp();

    if (cst_config_state("OMP_NUM_THREADS") == CST_VARIABLE_ACCEPTED)
        cst_config.nthreads_source = CST_FROM_ENVIRONMENT;
    cst_config.dynamic_given = cst_config_state("OMP_DYNAMIC") == CST_VARIABLE_ACCEPTED;
    choose_levels();
    cst_config_derive();
    keep_initial_teams();
    if (dump_fd >= 0) cst_config_dump(dump_fd);
}
