/* The settings as lines of JSON, for `capstan env`. They have the words of the page of settings
 * where libgomp's display has a number or a word that misleads. */
#include "core/settings/config.h"

#include "core/base/message.h"
#include "platform/platform.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The value in words, or NULL. */
static const char *in_words(const char *name) {
    const struct {
        const char *name;
        bool holds;
        const char *words;
    } known[] = {
        {"OMP_WAIT_POLICY", cst_config.wait_policy == CST_WAIT_DEFAULT, "undecided"},
        {"OMP_THREAD_LIMIT", cst_config.icv.thread_limit == UINT32_MAX, "none"},
        {"OMP_NUM_TEAMS", !cst_load_relaxed(&cst_config.num_teams), "none"},
        {"OMP_TEAMS_THREAD_LIMIT", !cst_load_relaxed(&cst_config.teams_thread_limit), "none"},
        {"OMP_STACKSIZE", !cst_config.stack_size_given, "the limit of the shell"},
        {"GOMP_STACKSIZE", !cst_config.stack_size_given, "the limit of the shell"},
        {"GOMP_SPINCOUNT", cst_config.spin_count == UINT64_MAX, "infinite"},
        {"CAPSTAN_IDLE_MS", cst_config.idle_ms == UINT64_MAX, "infinite"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].holds && strcmp(known[i].name, name) == 0) return known[i].words;
    return NULL;
}

static bool is_accepted(const char *name) {
    return cst_config_state(name) == CST_VARIABLE_ACCEPTED;
}

/* The other variable that decided a setting, or NULL. */
static const char *decided_by(const char *name) {
    const char *kmp = cst_config_kmp_decides(name);
    if (kmp) return kmp;
    if (is_accepted(name)) return NULL;
    if (strcmp(name, "GOMP_SPINCOUNT") == 0)
        return is_accepted("OMP_WAIT_POLICY") ? "OMP_WAIT_POLICY"
                                              : cst_config_kmp_decides("OMP_WAIT_POLICY");
    if (strcmp(name, "OMP_STACKSIZE") == 0 && is_accepted("GOMP_STACKSIZE"))
        return "GOMP_STACKSIZE";
    if (strcmp(name, "GOMP_STACKSIZE") == 0)
        return is_accepted("OMP_STACKSIZE") ? "OMP_STACKSIZE"
                                            : cst_config_kmp_decides("OMP_STACKSIZE");
    return NULL;
}

static const char *source_of(const char *name) {
    bool counts = strcmp(name, "OMP_NUM_THREADS") == 0 || strcmp(name, "CAPSTAN_CAPABILITIES") == 0;
    if (is_accepted(name)) return "environment";
    return counts ? "limits" : "default"; /* the affinity mask or the quota */
}

static const char *state_of(const char *name) {
    static const char *const names[] = {
        [CST_VARIABLE_UNKNOWN] = "constant",  [CST_VARIABLE_ABSENT] = "absent",
        [CST_VARIABLE_ACCEPTED] = "accepted", [CST_VARIABLE_REJECTED] = "rejected",
        [CST_VARIABLE_HIDDEN] = "hidden",
    };
    return names[cst_config_state(name)];
}

static void write_quoted(FILE *to, const char *text) {
    putc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20)
            fprintf(to, "\\u%04x", c);
        else
            fprintf(to, c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    putc('"', to);
}

static void write_line(FILE *to, const char *name, const char *source, const char *state,
                       const char *value) {
    const char *other = decided_by(name);
    fprintf(to, "{\"name\":\"%s\",\"source\":\"%s%s\",\"state\":\"%s\",\"value\":", name,
            other ? "from " : "", other ? other : source, state);
    write_quoted(to, value ? value : "");
    fputs("}\n", to);
}

static void write_settings(FILE *to) {
    const char *name, *words;
    bool refused;
    for (size_t n = 0; (name = cst_config_setting_name(n)); n++) {
        char *value = cst_config_format(name);
        words = in_words(name);
        write_line(to, name, source_of(name), state_of(name), words ? words : value);
        free(value);
    }
    for (size_t n = 0; (name = cst_config_kmp_given(n, &refused)); n++)
        write_line(to, name, refused ? "default" : "environment", refused ? "rejected" : "accepted",
                   refused ? "" : getenv(name));
}

void cst_config_dump(int fd) {
    int own = dup(fd);
    FILE *to = own < 0 ? NULL : fdopen(own, "w");
    if (!to) {
        cst_message("cannot write the settings to descriptor %d", fd);
        if (own >= 0) close(own);
        return;
    }
    fprintf(to, "{\"affinity\":%u,\"quota\":%" PRIu32 ",\"available\":%" PRIu32 "}\n",
            cst_cpu_affinity_count(), cst_config.quota, cst_config.available);
    write_settings(to);
    fclose(to);
}
