/* KMP_*, the settings of libomp, as far as they apply to this runtime. Other KMP_* are passed over,
 * as they concern libomp's internals. Wrong values are reported in libomp's words, and ignored. */
#include "core/settings/config.h"

#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/settings/place.h"
#include "core/settings/subset.h"
#include "capstan.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef bool reader(const char *name, const char *text); /* false: the value is wrong */

static bool refuse(const char *name, const char *text, const char *allowed) {
    cst_message_omp("Warning", "%s=\"%.100s\": invalid value, ignored; it must be %s", name, text,
                    allowed);
    return false;
}

static const struct cst_word booleans[] = {
    {"true", 1},     {"yes", 1},     {"on", 1},    {"enabled", 1}, {".true.", 1},
    {"t", 1},        {"1", 1},       {"false", 0}, {"no", 0},      {"off", 0},
    {"disabled", 0}, {".false.", 0}, {"f", 0},     {"0", 0},       {NULL, 0}};

static bool read_boolean(const char *name, const char *text, bool *value) {
    uint64_t found;
    if (!cst_parse_word(text, booleans, &found)) return refuse(name, text, "a truth value");
    *value = found;
    return true;
}

/* The settings that these variables may decide, and the variable that did. */
static struct {
    const char *setting, *variable;
} decided[] = {
    {"OMP_WAIT_POLICY", NULL},
    {"OMP_NUM_THREADS", NULL},
    {"OMP_STACKSIZE", NULL},
    {"OMP_THREAD_LIMIT", NULL},
};

enum { DECIDED = sizeof decided / sizeof decided[0] };

static void note(const char *setting, const char *variable) {
    for (size_t i = 0; i < DECIDED; i++)
        if (strcmp(decided[i].setting, setting) == 0) decided[i].variable = variable;
}

const char *cst_config_kmp_decides(const char *setting) {
    for (size_t i = 0; i < DECIDED; i++)
        if (strcmp(decided[i].setting, setting) == 0) return decided[i].variable;
    return NULL;
}

/* --- waiting ------------------------------------------------------------------------------- */

static void choose_policy(const char *name, enum cst_wait_policy policy) {
    if (cst_config_state("OMP_WAIT_POLICY") == CST_VARIABLE_ACCEPTED) return;
    cst_config.wait_policy = policy;
    note("OMP_WAIT_POLICY", name);
}

/* 0 and infinity are policies of waiting. For numbers in between, the runtime's own heuristics
 * decide. */
static bool read_blocktime(const char *name, const char *text) {
    static const struct cst_word words[] = {
        {"infinite", UINT64_MAX}, {"infinity", UINT64_MAX}, {NULL, 0}};
    static const struct cst_word units[] = {{"ms", 1000}, {"us", 1}, {"s", 1000000}, {NULL, 0}};
    uint64_t value, unit = 1000;
    if (!cst_parse_word(text, words, &value)) {
        const char *rest = text;
        bool is_right = cst_parse_number_at(&rest, &value);
        if (is_right && *cst_parse_blanks(rest)) is_right = cst_parse_word(rest, units, &unit);
        if (!is_right || value > INT_MAX)
            return refuse(name, text, "a time such as 200, 200ms or 50us, or infinite");
        value = value * unit / 1000;
    }
    cst_config.blocktime = value;
    if (value == 0) choose_policy(name, CST_WAIT_PASSIVE);
    if (value >= INT_MAX) choose_policy(name, CST_WAIT_ACTIVE);
    return true;
}

static bool read_library(const char *name, const char *text) {
    static const struct cst_word words[] = {{"serial", CST_WAIT_PASSIVE},
                                            {"turnaround", CST_WAIT_ACTIVE},
                                            {"throughput", CST_WAIT_DEFAULT},
                                            {NULL, 0}};
    uint64_t value;
    if (!cst_parse_word(text, words, &value))
        return refuse(name, text, "serial, turnaround or throughput");
    if (value == CST_WAIT_ACTIVE) choose_policy(name, CST_WAIT_ACTIVE);
    if (value != CST_WAIT_PASSIVE) return true;
    cst_config.icv.nthreads = 1;
    cst_config.icv.nthreads_explicit = 1;
    note("OMP_NUM_THREADS", name);
    return true;
}

/* --- sizes --------------------------------------------------------------------------------- */

/* A number without a unit means bytes, unlike in OMP_STACKSIZE. */
static bool read_stack_size(const char *name, const char *text) {
    char *end;
    uint64_t bytes;
    char in_bytes[32];
    strtoull(text, &end, 10);
    if (end != text && *cst_parse_blanks(end) == '\0' && strlen(text) + 2 < sizeof in_bytes) {
        snprintf(in_bytes, sizeof in_bytes, "%.*sB", (int)(end - text), text);
        text = in_bytes;
    }
    if (!cst_parse_size(text, &bytes))
        return refuse(name, text, "a number of bytes, or one with a unit (K, M, G)");
    cst_config.stack_size_given = cst_config.stack_size = bytes;
    note("OMP_STACKSIZE", name);
    return true;
}

static bool read_thread_limit(const char *name, const char *text) {
    uint64_t limit;
    if (!cst_parse_number(text, 1, INT_MAX, &limit))
        return refuse(name, text, "a number of threads");
    if (cst_config_state("OMP_THREAD_LIMIT") == CST_VARIABLE_ACCEPTED) return true;
    cst_config.icv.thread_limit = (uint32_t)limit;
    note("OMP_THREAD_LIMIT", name);
    return true;
}

/* This runtime has no such buffers, but a wrong number is reported. */
static bool read_buffers(const char *name, const char *text) {
    enum { MOST = 4096 };
    uint64_t number;
    if (!cst_parse_number(text, 0, LONG_MAX, &number)) return refuse(name, text, "a number");
    if (number == 0 || number > MOST)
        cst_message_omp("Warning", "%s=%s: value too %s; it must be from 1 to %d", name, text,
                        number ? "large" : "small", MOST);
    return true;
}

static bool read_throttling(const char *name, const char *text) {
    bool wanted = true;
    if (!read_boolean(name, text, &wanted)) return false;
    cst_config.tasks_wait = !wanted;
    return true;
}

static bool read_deterministic(const char *name, const char *text) {
    bool wanted = false;
    if (!read_boolean(name, text, &wanted)) return false;
    cst_config.same_reductions = wanted;
    return true;
}

/* --- what is shown ------------------------------------------------------------------------- */

static bool read_settings(const char *name, const char *text) {
    bool wanted = false;
    if (!read_boolean(name, text, &wanted)) return false;
    if (wanted) cst_config.display_env = CST_DISPLAY_ENV_VERBOSE;
    return true;
}

static bool read_version(const char *name, const char *text) {
    bool wanted = false;
    if (!read_boolean(name, text, &wanted)) return false;
    if (wanted)
        cst_message("version %s, for libomp.so.5, libiomp5.so and libgomp.so.1", CAPSTAN_VERSION);
    return true;
}

static bool read_warnings(const char *name, const char *text) {
    bool wanted = true;
    if (!read_boolean(name, text, &wanted)) return false;
    cst_message_omp_warns(wanted);
    return true;
}

/* --- KMP_AFFINITY -------------------------------------------------------------------------- */

enum type { UNBOUND, COMPACT, SCATTER, EXPLICIT };

struct affinity {
    enum type type;
    bool resets;
    const char *places; /* by the granularity */
    char list[2048];    /* explicit list, in the form of OMP_PLACES */
};

static const struct cst_word types[] = {
    {"none", UNBOUND},     {"disabled", UNBOUND},  {"compact", COMPACT},
    {"logical", COMPACT},  {"scatter", SCATTER},   {"physical", SCATTER},
    {"balanced", SCATTER}, {"explicit", EXPLICIT}, {NULL, 0}};
/* All modifiers but `reset` and `noreset` have no effect here. */
enum modifier { NO_CONSEQUENCE, NO_RESET, RESET };
static const struct cst_word modifiers[] = {{"noverbose", NO_CONSEQUENCE},
                                            {"verbose", NO_CONSEQUENCE},
                                            {"nowarnings", NO_CONSEQUENCE},
                                            {"warnings", NO_CONSEQUENCE},
                                            {"norespect", NO_CONSEQUENCE},
                                            {"respect", NO_CONSEQUENCE},
                                            {"noreset", NO_RESET},
                                            {"reset", RESET},
                                            {"nodups", NO_CONSEQUENCE},
                                            {"dups", NO_CONSEQUENCE},
                                            {NULL, 0}};
static const struct cst_word granularities[] = {
    {"fine", 0}, {"thread", 0}, {"core", 1},   {"tile", 1},    {"l2_cache", 1}, {"die", 2},
    {"node", 2}, {"group", 2},  {"socket", 2}, {"package", 2}, {NULL, 0}};
static const char *const place_names[] = {"threads", "cores", "sockets"};

/* Turns [0,2-4,{6,7}] into {0},{2},{3},{4},{6,7}. Returns the text after it, or NULL. */
static const char *read_list(const char *text, struct affinity *affinity) {
    size_t used = 0;
    if (*text++ != '[') return NULL;
    while (*text && *text != ']') {
        uint64_t first, last, step = 1;
        const char *from = text;
        if (*text == '{') {
            size_t length = strcspn(text, "}") + 1;
            if (length > strlen(text) || used + length + 2 > sizeof affinity->list) return NULL;
            used += (size_t)snprintf(affinity->list + used, sizeof affinity->list - used, "%s%.*s",
                                     used ? "," : "", (int)length, text);
            text += length;
        } else {
            if (!cst_parse_number_at(&text, &first)) return NULL;
            last = first;
            if (*text == '-' && (++text, !cst_parse_number_at(&text, &last))) return NULL;
            if (*text == ':' && (++text, !cst_parse_number_at(&text, &step))) return NULL;
            for (uint64_t i = first; i <= last && step > 0; i += step) {
                if (used + 24 > sizeof affinity->list) return NULL;
                used += (size_t)snprintf(affinity->list + used, sizeof affinity->list - used,
                                         "%s{%llu}", used ? "," : "", (unsigned long long)i);
            }
        }
        if (*text == ',') text++;
        if (text == from) return NULL;
    }
    return *text == ']' ? text + 1 : NULL;
}

/* Reads one entry of the list. Returns the text after it, or NULL. */
static const char *read_entry(const char *text, struct affinity *affinity) {
    static const struct cst_word granularity[] = {{"granularity", 0}, {"gran", 0}, {NULL, 0}};
    static const struct cst_word proclist[] = {{"proclist", 0}, {NULL, 0}};
    uint64_t value;
    if (cst_parse_word_at(&text, granularity, &value)) {
        if (*text++ != '=' || !cst_parse_word_at(&text, granularities, &value)) return NULL;
        affinity->places = place_names[value];
        return text;
    }
    if (cst_parse_word_at(&text, proclist, &value))
        return *text++ == '=' ? read_list(text, affinity) : NULL;
    if (cst_parse_word_at(&text, types, &value)) {
        affinity->type = (enum type)value;
        return text;
    }
    if (cst_parse_word_at(&text, modifiers, &value)) {
        if (value != NO_CONSEQUENCE) affinity->resets = value == RESET;
        return text;
    }
    return cst_parse_number_at(&text, &value) ? text : NULL; /* permute, offset */
}

static bool is_bound_otherwise(void) {
    return cst_config_state("OMP_PROC_BIND") == CST_VARIABLE_ACCEPTED ||
           cst_config_state("OMP_PLACES") == CST_VARIABLE_ACCEPTED ||
           cst_config_state("GOMP_CPU_AFFINITY") == CST_VARIABLE_ACCEPTED;
}

static bool read_affinity(const char *name, const char *text) {
    struct affinity affinity = {.places = "cores"};
    const char *rest = text;
    do {
        rest = read_entry(cst_parse_blanks(rest), &affinity);
        if (rest) rest = cst_parse_blanks(rest);
    } while (rest && *rest == ',' && *++rest);
    if (!rest || *rest || (affinity.type == EXPLICIT && !affinity.list[0])) {
        return refuse(name, text,
                      "a list such as granularity=core,compact or explicit,proclist=[0,2]");
    }
    if (affinity.type == UNBOUND || is_bound_otherwise()) return true;
    cst_place_read(affinity.type == EXPLICIT ? affinity.list : affinity.places, false);
    cst_config.bind_resets = affinity.resets;
    cst_config.icv.bind = affinity.type == SCATTER ? CST_BIND_SPREAD : CST_BIND_CLOSE;
    return true;
}

static bool read_subset(const char *name, const char *text) {
    (void)name;
    return cst_subset_read(text);
}

/* ------------------------------------------------------------------------------------------- */

struct variable {
    const char *name;
    reader *read;
};

static const struct variable variables[] = {
    {"KMP_WARNINGS", read_warnings},
    {"KMP_HW_SUBSET", read_subset},
    {"KMP_BLOCKTIME", read_blocktime},
    {"KMP_LIBRARY", read_library},
    {"KMP_STACKSIZE", read_stack_size},
    {"KMP_ALL_THREADS", read_thread_limit},
    {"KMP_DEVICE_THREAD_LIMIT", read_thread_limit},
    {"KMP_DISP_NUM_BUFFERS", read_buffers},
    {"KMP_AFFINITY", read_affinity},
    {"KMP_ENABLE_TASK_THROTTLING", read_throttling},
    {"KMP_DETERMINISTIC_REDUCTION", read_deterministic},
    {"KMP_SETTINGS", read_settings},
    {"KMP_VERSION", read_version},
};

enum { FIRST = 2, VARIABLES = sizeof variables / sizeof variables[0] };

static bool given[VARIABLES], refused[VARIABLES];

static void read_variables(size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        const char *text = getenv(variables[i].name);
        given[i] = text && *text;
        if (given[i]) refused[i] = !variables[i].read(variables[i].name, cst_parse_blanks(text));
    }
}

void cst_config_read_kmp_first(void) {
    read_variables(0, FIRST);
}

void cst_config_read_kmp(void) {
    read_variables(FIRST, VARIABLES);
}

const char *cst_config_kmp_given(size_t n, bool *was_refused) {
    for (size_t i = 0; i < VARIABLES; i++) {
        if (!given[i] || n-- > 0) continue;
        *was_refused = refused[i];
        return variables[i].name;
    }
    return NULL;
}
