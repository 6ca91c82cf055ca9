/* Values of the variables with words, numbers, sizes, schedules and lists. An accepted value is
 * shown as a text that is accepted too, and has the same meaning. */
#include "fuzz.h"

#include "core/settings/config.h"

static const char *const names[] = {
    "OMP_SCHEDULE",      "OMP_DYNAMIC",           "OMP_NUM_THREADS",  "OMP_NUM_TEAMS",
    "OMP_PROC_BIND",     "OMP_MAX_ACTIVE_LEVELS", "OMP_WAIT_POLICY",  "OMP_STACKSIZE",
    "GOMP_SPINCOUNT",    "OMP_THREAD_LIMIT",      "OMP_CANCELLATION", "OMP_TEAMS_THREAD_LIMIT",
    "CAPSTAN_SUBSTRATE", "OMP_DEFAULT_DEVICE",    "CAPSTAN_REPORT",   "CAPSTAN_CAPABILITIES",
    "OMP_DISPLAY_ENV",   "OMP_AFFINITY_FORMAT",   "CAPSTAN_WAIT",
};

/* A size is shown in bytes and read in kilobytes, an infinite count is shown as a number, and the
 * target of a report is not shown. */
static bool is_shown_as_read(const char *name) {
    return strcmp(name, "OMP_STACKSIZE") != 0 && strcmp(name, "CAPSTAN_REPORT") != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input input = {data, size};
    const char *name = names[next_byte(&input) % (sizeof names / sizeof *names)];
    char *text = next_text(&input, -1);
    char *value = cst_config_value(name, name, text);
    if (value && is_shown_as_read(name)) {
        char *again = cst_config_value(name, name, value);
        CHECK(again && strcmp(again, value) == 0);
        free(again);
    }
    free(value);
    free(text);
    return 0;
}
