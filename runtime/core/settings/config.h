/* The environment, read once when the library is loaded, as a constant struct.
 *
 * One table in config.c describes every variable: name, parser, field, default. For a wrong value,
 * libgomp's warning goes to stderr, and the default holds. Set-user-ID programs ignore
 * CAPSTAN_*. */
#ifndef CST_CORE_SETTINGS_CONFIG_H
#define CST_CORE_SETTINGS_CONFIG_H

#include "core/settings/icv.h"
#include "core/settings/waiting.h"
#include "platform/atomic.h"
#include "platform/hidden.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cst_wait_policy { CST_WAIT_DEFAULT, CST_WAIT_ACTIVE, CST_WAIT_PASSIVE };
enum cst_substrate_choice { CST_SUBSTRATE_AUTO, CST_SUBSTRATE_PTHREAD, CST_SUBSTRATE_RTS };
enum cst_display_env { CST_DISPLAY_ENV_NO, CST_DISPLAY_ENV_YES, CST_DISPLAY_ENV_VERBOSE };
enum cst_target_offload { CST_OFFLOAD_DEFAULT, CST_OFFLOAD_MANDATORY, CST_OFFLOAD_DISABLED };

/* Libraries whose pools are taken over (runtime/adopt). */
enum cst_adopt {
    CST_ADOPT_NONE = 0,
    CST_ADOPT_OPENBLAS = 1,
    CST_ADOPT_FFTW = 2,
    CST_ADOPT_ONETBB = 4, /* not the pool, but the number of its threads (core/budget) */
    CST_ADOPT_ALL = 7
};

/* The origin of a setting; `capstan env` shows it. */
enum cst_source { CST_FROM_DEFAULT, CST_FROM_ENVIRONMENT, CST_FROM_LIMITS };

struct cst_config {
    struct cst_icv icv; /* of every initial task */

    /* OMP_NUM_THREADS=4,2 and OMP_PROC_BIND=spread,close: the value for each nesting level; icv
     * holds the first. The length is 0 or 1 if no list was given. */
    const uint32_t *nthreads_list;
    size_t nthreads_list_length;
    const uint8_t *bind_list;
    size_t bind_list_length;
    bool bind_resets; /* KMP_AFFINITY=reset: a thread is bound in its outermost regions only */

    uint32_t available; /* processors at start, by the affinity mask and the quota */
    uint32_t quota;     /* cst_cpu_quota() at start; 0: none */
    enum cst_source nthreads_source;
    bool cancellation;     /* OMP_CANCELLATION */
    bool display_affinity; /* OMP_DISPLAY_AFFINITY */
    enum cst_display_env display_env;
    enum cst_wait_policy wait_policy;
    enum cst_target_offload target_offload;
    uint32_t max_task_priority; /* OMP_MAX_TASK_PRIORITY */
    bool dynamic_given;         /* OMP_DYNAMIC was given; icv.dynamic holds it */
    /* ICVs of the device: omp_set_num_teams and omp_set_teams_thread_limit write them later, so
     * they are atomic. All accesses are relaxed, because these variables order nothing else. */
    _Atomic uint32_t num_teams;          /* OMP_NUM_TEAMS; 0: not set */
    _Atomic uint32_t teams_thread_limit; /* OMP_TEAMS_THREAD_LIMIT; 0: not set */
    uint32_t num_teams_at_start, teams_thread_limit_at_start; /* the same, for display */
    const char *allocator_text; /* OMP_ALLOCATOR if OpenMP does not predefine it, or NULL */
    size_t stack_size_given;    /* OMP_STACKSIZE or GOMP_STACKSIZE in bytes; 0: not set */
    size_t stack_size;          /* the same, if a thread can have it; 0: the system's */
    bool tasks_wait;            /* KMP_ENABLE_TASK_THROTTLING=0: deferrable tasks are deferred */
    bool same_reductions;       /* KMP_DETERMINISTIC_REDUCTION: members combine in a fixed order */
    uint64_t blocktime;         /* KMP_BLOCKTIME in milliseconds; UINT64_MAX: for ever */
    bool spin_count_given;
    uint64_t spin_count; /* GOMP_SPINCOUNT or libgomp's default; UINT64_MAX: infinite */

    /* Settings of Capstan. */
    enum cst_substrate_choice substrate;  /* CAPSTAN_SUBSTRATE=rts|pthread */
    uint32_t capabilities;                /* CAPSTAN_CAPABILITIES=N; 0: `available` */
    uint32_t wait_off;                    /* CAPSTAN_WAIT: enum cst_heuristic (waiting.h) */
    bool batches;                         /* CAPSTAN_BATCHES (work/loop.h) */
    uint64_t idle_ms;                     /* CAPSTAN_IDLE_MS; UINT64_MAX: for ever (workers.h) */
    char share[32];                       /* CAPSTAN_SHARE: the group's name; "": none */
    uint32_t adopt;                       /* CAPSTAN_ADOPT: enum cst_adopt, added up */
    int report_fd;                        /* CAPSTAN_REPORT=fd:N; -1: no report */
    uint64_t report_device, report_inode; /* of the report's file; inode 0: any file */
};

/* Valid and constant after the library's constructor has run. */
extern CST_HIDDEN struct cst_config cst_config;

/* Reads the environment into cst_config. The constructor in life.c calls it once. */
void cst_config_read(void);

/* The state of a variable, for `capstan env` and tests. */
enum cst_config_state {
    CST_VARIABLE_UNKNOWN, /* no such variable in the table */
    CST_VARIABLE_ABSENT,  /* not in the environment */
    CST_VARIABLE_ACCEPTED,
    CST_VARIABLE_REJECTED, /* wrong; the user was told */
    CST_VARIABLE_HIDDEN,   /* overridden by another variable, or the process is set-user-ID */
};
enum cst_config_state cst_config_state(const char *name);

/* Writes OMP_DISPLAY_ENV's text (libgomp's form) to stderr; also omp_display_env(verbose). */
void cst_config_display(bool verbose);

/* Writes each setting as a JSON line to a descriptor, for `capstan env`. The first line has the
 * numbers of processors that the affinity mask, the quota and both allow. Then each variable has a
 * line {"name":...,"source":"default"|"environment"|"limits"|"from NAME","state":...,"value":...},
 * also each KMP_* that was given (config_dump.c). */
void cst_config_dump(int fd);

/* Reads the KMP_* that other settings depend on: they decide whether wrong values are reported, and
 * select a part of the machine. */
void cst_config_read_kmp_first(void);
/* Reads the other KMP_*, the settings of libomp. OMP_* take precedence (config_kmp.c). */
void cst_config_read_kmp(void);
/* The KMP_* that decided the setting, or NULL. */
const char *cst_config_kmp_decides(const char *setting);
/* The n-th of the KMP_* that the environment has, or NULL; and whether its value is wrong. */
const char *cst_config_kmp_given(size_t n, bool *was_refused);

/* Fills in settings that follow from several variables together (config_derive.c). */
void cst_config_derive(void);

/* The name of the n-th setting, in the order in which they are shown; NULL at the end. */
const char *cst_config_setting_name(size_t n);

/* The value of a setting as OMP_DISPLAY_ENV shows it. The caller frees it. NULL when memory is
 * exhausted. */
char *cst_config_format(const char *name);

/* --- variables for devices (config_device.c) ------------------------------------------------ */

/* A variable with a suffix: OMP_NUM_TEAMS_ALL, OMP_NUM_TEAMS_DEV, OMP_NUM_TEAMS_DEV_3. */
struct cst_device_setting {
    const char *name; /* without the suffix */
    char *value;      /* as shown */
    char scope[12];   /* "all", "device" or the device's number */
};

/* Reads them. As there is no device, they are checked and shown. A value with _ALL holds for the
 * host too, and is read with the plain variables. */
void cst_config_read_devices(void);

/* The n-th setting, in the order in which they are shown; NULL at the end. */
const struct cst_device_setting *cst_config_device_setting(size_t n);

/* The length of the name at the beginning of this entry of the environment, if the variable may
 * have a suffix; else 0. */
size_t cst_config_scoped(const char *entry);

/* The value of the variable for this text, as shown. The caller frees it. NULL, with a message that
 * names `shown_as`, if the text is wrong. */
char *cst_config_value(const char *name, const char *shown_as, const char *text);

#endif
