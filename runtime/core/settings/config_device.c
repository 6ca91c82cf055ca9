/* Variables for devices: OMP_x_ALL, OMP_x_DEV and OMP_x_DEV_n (OpenMP 5.1, chapter 6); see
 * config.h. */
#include "core/settings/config.h"

#include "core/base/memory.h"
#include "core/base/message.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The table keeps no more. No program has so many devices, while the kernel passes 100 000
 * variables even to a set-user-ID program. */
enum { MOST_SETTINGS = 1024 };

static struct {
    struct cst_device_setting *list;
    size_t length;
} settings;

const struct cst_device_setting *cst_config_device_setting(size_t n) {
    return n < settings.length ? &settings.list[n] : NULL;
}

static char *copy(const char *text, size_t length) {
    char *made = cst_memory_get("a setting", length + 1);
    memcpy(made, text, length);
    made[length] = '\0';
    return made;
}

/* The order of scopes: all, then devices in general, then numbered devices in the environment's
 * order. */
static int rank(const char *scope) {
    return strcmp(scope, "all") == 0 ? 0 : strcmp(scope, "device") == 0 ? 1 : 2;
}

static bool insert(const struct cst_device_setting *setting) {
    struct cst_device_setting *list =
        realloc(settings.list, (settings.length + 1) * sizeof *settings.list);
    if (!list) return false; /* the setting is only for display */
    settings.list = list;
    size_t at = settings.length++;
    for (; at > 0 && rank(list[at - 1].scope) > rank(setting->scope); at--) list[at] = list[at - 1];
    list[at] = *setting;
    return true;
}

/* Is the text a device's number by libgomp's rules: digits, no leading zero, an int? */
static bool is_number(const char *text) {
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || text[digits] != '\0' || (text[0] == '0' && digits > 1)) return false;
    int saved = errno;
    errno = 0;
    bool fits = strtoul(text, NULL, 10) <= INT_MAX && errno == 0;
    errno = saved;
    return fits;
}

/* Finds the scope that a suffix means. False, with a message that names `entry`, for a wrong
 * suffix. */
static bool scope_of(const char *suffix, const char *entry, char *scope, size_t size) {
    const char *found = NULL;
    if (strcmp(suffix, "_ALL") == 0) found = "all";
    if (strcmp(suffix, "_DEV") == 0) found = "device";
    bool numbered = strncmp(suffix, "_DEV_", 5) == 0;
    if (numbered && is_number(suffix + 5)) found = suffix + 5;
    if (found)
        snprintf(scope, size, "%s", found);
    else if (numbered)
        cst_message_openmp("Invalid device number in %s", entry);
    else
        cst_message_openmp("Invalid environment variable in %s", entry);
    return found != NULL;
}

static void read_entry(const char *entry, size_t length) {
    const char *equals = strchr(entry, '=');
    if (!equals || equals == entry + length) return; /* no suffix: for the host (config.c) */
    struct cst_device_setting setting;
    char *whole = copy(entry, (size_t)(equals - entry));
    if (scope_of(whole + length, entry, setting.scope, sizeof setting.scope)) {
        char *name = copy(entry, length), *value = cst_config_value(name, whole, equals + 1);
        setting.name = name;
        setting.value = value;
        if (!value || !insert(&setting)) {
            free(name);
            free(value);
        }
    }
    free(whole);
}

void cst_config_read_devices(void) {
    for (char **entry = environ; entry && *entry; entry++) {
        size_t length = cst_config_scoped(*entry);
        if (length == 0) continue;
        if (settings.length == MOST_SETTINGS) {
            cst_message("the environment has more than %d variables for devices; the rest of them "
                        "is ignored",
                        MOST_SETTINGS);
            break;
        }
        read_entry(*entry, length);
    }
}
