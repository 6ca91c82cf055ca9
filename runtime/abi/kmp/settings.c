/* Settings that programs of libomp may change while they run; see settings.h. */
#include "abi/kmp/settings.h"

#include "abi/omp/prototypes.h"
#include "abi/whole.h"
#include "core/front.h"
#include "platform/platform.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

CST_WHOLE(kmp_settings);

enum { UNSET = -1, DEFAULT_STACK = 8 << 20 /* the usual soft limit, if no size is set */ };

/* The last values that the program set. Relaxed: they order nothing. */
static _Atomic int blocktime = UNSET, library = UNSET;

int cst_kmp_blocktime(void) {
    int set = cst_load_relaxed(&blocktime);
    if (set != UNSET) return set;
    if (cst_config.wait_policy == CST_WAIT_ACTIVE) return INT_MAX;
    if (cst_config.wait_policy == CST_WAIT_PASSIVE) return 0;
    return cst_config.blocktime > INT_MAX ? INT_MAX : (int)cst_config.blocktime;
}

/* The time of spinning is fixed before the first region. A later value is only stored, for
 * cst_kmp_blocktime. */
void cst_kmp_set_blocktime(int milliseconds) {
    cst_store_relaxed(&blocktime, milliseconds < 0 ? 0 : milliseconds);
}

int cst_kmp_library(void) {
    int set = cst_load_relaxed(&library);
    if (set != UNSET) return set;
    return cst_config.wait_policy == CST_WAIT_ACTIVE ? KMP_LIBRARY_TURNAROUND
                                                     : KMP_LIBRARY_THROUGHPUT;
}

void cst_kmp_set_library(int kind) {
    if (kind < KMP_LIBRARY_SERIAL || kind > KMP_LIBRARY_THROUGHPUT) return;
    cst_store_relaxed(&library, kind);
    if (kind == KMP_LIBRARY_SERIAL) omp_set_num_threads(1);
}

size_t cst_kmp_stack_size(void) {
    return cst_config.stack_size ? cst_config.stack_size : DEFAULT_STACK;
}

void cst_kmp_set_stack_size(size_t bytes) {
    if (cst_pool_workers_made() == 0 && bytes > 0) cst_config.stack_size = bytes;
}

/* --- texts --------------------------------------------------------------------------------- */

/* Any other word means the default. */
static void set_offload(const char *value) {
    cst_config.target_offload = strcasecmp(value, "disabled") == 0    ? CST_OFFLOAD_DISABLED
                                : strcasecmp(value, "mandatory") == 0 ? CST_OFFLOAD_MANDATORY
                                                                      : CST_OFFLOAD_DEFAULT;
}

static void set(const char *name, const char *value) {
    char *end;
    long number = strtol(value, &end, 10);
    bool is_number = end != value && number >= 0 && number <= INT_MAX;
    if (strcmp(name, "KMP_BLOCKTIME") == 0)
        cst_kmp_set_blocktime(is_number ? (int)number : INT_MAX);
    else if (strcmp(name, "OMP_NUM_THREADS") == 0 && is_number)
        omp_set_num_threads((int)number);
    else if (strcmp(name, "OMP_TARGET_OFFLOAD") == 0)
        set_offload(value);
    else if (strcmp(name, "KMP_LIBRARY") == 0)
        cst_kmp_set_library(strcmp(value, "serial") == 0       ? KMP_LIBRARY_SERIAL
                            : strcmp(value, "turnaround") == 0 ? KMP_LIBRARY_TURNAROUND
                                                               : KMP_LIBRARY_THROUGHPUT);
}

/* Passes over settings that have no meaning once the library is loaded. */
void cst_kmp_read(const char *text) {
    char *copy = strdup(text), *rest = copy;
    for (char *entry; copy && (entry = strsep(&rest, "|"));) {
        char *value = strchr(entry, '=');
        if (!value) continue;
        *value = '\0';
        set(entry, value + 1);
    }
    free(copy);
}

/* For libraries of offloading: 0 disabled, 1 default, 2 mandatory. */
int __kmpc_get_target_offload(void) {
    if (cst_config.target_offload == CST_OFFLOAD_DISABLED) return 0;
    return cst_config.target_offload == CST_OFFLOAD_MANDATORY ? 2 : 1;
}
