/* core/settings/config.c: the configuration that results from the environment.
 *
 * The library reads the environment when the program starts, so each case is its own process: this
 * program runs again with other variables and one argument. The test compares its stderr with the
 * expected text and, for OMP_DISPLAY_ENV, with the system's own libgomp. */
#include "unit.h"

#include "core/settings/config.h"
#include "core/settings/place.h"
#include "core/settings/waiting.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <sys/wait.h>

enum { MOST = 16384, MOST_VARIABLES = 8 };

/* Runs this program with these variables alone, and returns the text of its stderr. */
static const char *run(const char *question, const char *const *variables) {
    static char text[2][MOST];
    static int turn;
    char *to = text[turn++ % 2];
    int pipe_ends[2];
    UNIT_EQUAL(pipe(pipe_ends), 0);
    pid_t child = fork();
    if (child == 0) {
        char *arguments[] = {"unit_config", (char *)question, NULL};
        dup2(pipe_ends[1], 2);
        execve("/proc/self/exe", arguments, (char **)variables);
        _exit(127);
    }
    close(pipe_ends[1]);
    size_t length = 0;
    ssize_t got;
    while ((got = read(pipe_ends[0], to + length, MOST - 1 - length)) > 0) length += (size_t)got;
    close(pipe_ends[0]);
    int status;
    waitpid(child, &status, 0);
    UNIT_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    to[length] = '\0';
    return to;
}

#define RUN(question, ...) run(question, (const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

/* libgomp reads the environment that this test gives it, and displays it. The runtime in this
 * program has read its own environment before. */
static int libgomp_answers(void) {
    for (char **entry = environ; *entry; entry++)
        if (strncmp(*entry, "LIBGOMP:", 8) == 0) putenv(*entry + 8);
    return dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL) ? 0 : 1;
}

/* Answers the question in the argument. */
static int answer(const char *question) {
    if (strcmp(question, "libgomp") == 0) return libgomp_answers();
    const struct cst_icv *icv = &cst_config.icv;
    if (strcmp(question, "nothing") == 0) return 0;
    if (strcmp(question, "threads") == 0) {
        fprintf(stderr, "%u", icv->nthreads);
        for (size_t i = 0; i < cst_config.nthreads_list_length; i++)
            fprintf(stderr, " %u", cst_config.nthreads_list[i]);
        fprintf(stderr, " %s levels %u", icv->nthreads_explicit ? "given" : "chosen",
                icv->max_active_levels);
    } else if (strcmp(question, "available") == 0) {
        fprintf(stderr, "%d", icv->nthreads == cst_config.available);
    } else if (strcmp(question, "schedule") == 0) {
        fprintf(stderr, "%u %d %u", icv->run_sched_kind, icv->run_sched_chunk,
                icv->run_sched_monotonic);
    } else if (strcmp(question, "wait") == 0) {
        fprintf(stderr, "%d %d %llu", cst_config.wait_policy, cst_config.spin_count_given,
                (unsigned long long)cst_config.spin_count);
    } else if (strcmp(question, "switches") == 0) {
        for (uint32_t i = 0, bit; cst_waiting_name(i, &bit); i++)
            fputc(cst_config.wait_off & bit ? '0' : '1', stderr);
    } else if (strcmp(question, "stack") == 0) {
        fprintf(stderr, "%zu", cst_config.stack_size);
    } else if (strcmp(question, "bind") == 0) {
        fprintf(stderr, "%u places %u", icv->bind, cst_places.count);
    } else if (strcmp(question, "device") == 0) {
        fprintf(stderr, "%d", icv->default_device);
    } else if (strcmp(question, "own") == 0) {
        fprintf(stderr, "%d %u %d", cst_config.substrate, cst_config.capabilities,
                cst_config.report_fd);
    } else if (strcmp(question, "share") == 0) {
        fprintf(stderr, "<%s>", cst_config.share);
    } else if (strcmp(question, "adopt") == 0) {
        fprintf(stderr, "%u", cst_config.adopt);
    } else if (strcmp(question, "state") == 0) {
        fprintf(stderr, "%d%d%d", cst_config_state("OMP_NUM_THREADS"),
                cst_config_state("OMP_DYNAMIC"), cst_config_state("OMP_NONSENSE"));
    }
    return 0;
}

/* --- values ------------------------------------------------------------------------------- */

static void threads(void) {
    UNIT_TEXT(RUN("available"), "1");
    UNIT_TEXT(RUN("threads", "OMP_NUM_THREADS=3"), "3 given levels 1");
    UNIT_TEXT(RUN("threads", "OMP_NUM_THREADS= 4 , 2"), "4 4 2 given levels 255");
    UNIT_TEXT(RUN("threads", "OMP_NUM_THREADS=4,2", "OMP_MAX_ACTIVE_LEVELS=1"),
              "4 4 2 given levels 1");
    UNIT_TEXT(RUN("threads", "OMP_NUM_THREADS_ALL=5"), "5 given levels 1");
    UNIT_TEXT(RUN("threads", "OMP_NUM_THREADS_ALL=5", "OMP_NUM_THREADS=6"), "6 given levels 1");
    UNIT_TEXT(RUN("threads", "OMP_NUM_THREADS_DEV=5", "OMP_NUM_THREADS=6"), "6 given levels 1");
    UNIT_TEXT(RUN("threads", "OMP_NUM_THREADS=2147483648", "OMP_NUM_THREADS_ALL=7"),
              "\nlibgomp: Invalid value for environment variable OMP_NUM_THREADS\n"
              "7 given levels 1");
    UNIT_TEXT(RUN("threads", "OMP_NUM_THREADS=4194304"), "4194304 given levels 1");
    UNIT_CHECK(strstr(RUN("available", "OMP_NUM_THREADS=2,4194305"),
                      "OMP_NUM_THREADS: 2,4194305 asks for more threads than the 4194304 "));
    UNIT_CHECK(strstr(RUN("available", "OMP_NUM_THREADS_ALL=4194305"),
                      "OMP_NUM_THREADS_ALL: 4194305 asks"));
}

static void schedules(void) {
    UNIT_TEXT(RUN("schedule"), "2 1 0");
    UNIT_TEXT(RUN("schedule", "OMP_SCHEDULE=static"), "1 0 1");
    UNIT_TEXT(RUN("schedule", "OMP_SCHEDULE=nonmonotonic:static,7"), "1 7 0");
    UNIT_TEXT(RUN("schedule", "OMP_SCHEDULE=Monotonic : Guided , 3"), "3 3 1");
    UNIT_TEXT(RUN("schedule", "OMP_SCHEDULE=dynamic,-1"),
              "\nlibgomp: Invalid value for chunk size in environment variable OMP_SCHEDULE\n"
              "2 1 0");
    UNIT_TEXT(RUN("schedule", "OMP_SCHEDULE=fast"),
              "\nlibgomp: Unknown value for environment variable OMP_SCHEDULE\n2 1 0");
}

static void waiting(void) {
    UNIT_TEXT(RUN("wait"), "0 0 300000");
    UNIT_TEXT(RUN("wait", "OMP_WAIT_POLICY=active"), "1 0 30000000000");
    UNIT_TEXT(RUN("wait", "OMP_WAIT_POLICY=passive"), "2 0 0");
    UNIT_TEXT(RUN("wait", "OMP_WAIT_POLICY=passive", "GOMP_SPINCOUNT=2k"), "2 1 2000");
    UNIT_TEXT(RUN("wait", "GOMP_SPINCOUNT=infinite"), "0 1 18446744073709551615");
}

/* One digit for each heuristic of waiting: spin, yield, costs, rivals, haskell, apart, giveway,
 * wake, newcomer, turns, patience, together, forks. */
static void switches(void) {
    UNIT_TEXT(RUN("switches"), "1111111111111");
    UNIT_TEXT(RUN("switches", "CAPSTAN_WAIT="), "1111111111111");
    UNIT_TEXT(RUN("switches", "CAPSTAN_WAIT=turns:off"), "1111111110111");
    UNIT_TEXT(RUN("switches", "CAPSTAN_WAIT= Spin : OFF , apart:off,patience:off "),
              "0111101111011");
    UNIT_TEXT(RUN("switches", "CAPSTAN_WAIT=turns:off,turns:on"), "1111111111111");
    UNIT_TEXT(RUN("switches", "CAPSTAN_WAIT=all:off"), "0000000000000");
    UNIT_TEXT(RUN("switches", "CAPSTAN_WAIT=all:off,spin:on"), "1000000000000");
    char value[200] = "CAPSTAN_WAIT=", expected[] = "1111111111111";
    const char *name;
    uint32_t bit;
    for (size_t i = 0; (name = cst_waiting_name(i, &bit)); i++) {
        snprintf(value, sizeof value, "CAPSTAN_WAIT=%s:off", name);
        expected[i] = '0';
        UNIT_TEXT(RUN("switches", value), expected);
        expected[i] = '1';
    }
}

/* A list that is wrong in any place is ignored as a whole, with a word on what is allowed. */
static void wrong_switches(void) {
    static const char *const wrong[] = {"turns",          "turns:",
                                        "turns:of",       "turn:off",
                                        ":off",           "off",
                                        "turns=off",      "turns:off,",
                                        ",turns:off",     "turns:off apart:off",
                                        "turns:off,apart"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char variable[64], quoted[64], name[64];
        snprintf(variable, sizeof variable, "CAPSTAN_WAIT=%s", wrong[i]);
        snprintf(quoted, sizeof quoted, "\"%s\"", wrong[i]);
        const char *text = RUN("switches", variable), *known;
        UNIT_CHECK(strstr(text, "environment variable CAPSTAN_WAIT") && strstr(text, quoted));
        UNIT_CHECK(strstr(text, "ignored\n11111111111"));
        uint32_t bit;
        for (size_t n = 0; (known = cst_waiting_name(n, &bit)); n++) {
            snprintf(name, sizeof name, " %s", known);
            UNIT_CHECK(strstr(strstr(text, "must be"), name));
        }
    }
}

static void stacks(void) {
    UNIT_TEXT(RUN("stack"), "0");
    UNIT_TEXT(RUN("stack", "OMP_STACKSIZE=4m", "GOMP_STACKSIZE=1m"), "4194304");
    UNIT_TEXT(RUN("stack", "GOMP_STACKSIZE=1024"), "1048576");
    UNIT_CHECK(strstr(RUN("stack", "OMP_STACKSIZE=1b"), "libgomp: Stack size less than minimum"));
}

static void binding(void) {
    UNIT_TEXT(RUN("bind"), "0 places 0");
    UNIT_TEXT(RUN("bind", "OMP_PLACES={0}"), "1 places 1");
    UNIT_TEXT(RUN("bind", "OMP_PLACES={0}", "OMP_PROC_BIND=false"), "0 places 0");
    UNIT_TEXT(RUN("bind", "OMP_PLACES={0}", "OMP_PROC_BIND=spread"), "4 places 1");
    UNIT_TEXT(RUN("bind", "GOMP_CPU_AFFINITY=0", "OMP_PROC_BIND=close"), "3 places 1");
    UNIT_TEXT(RUN("bind", "OMP_PLACES={0", "OMP_PROC_BIND=false"),
              "\nlibgomp: Invalid value for environment variable OMP_PLACES\n0 places 0");
}

static void devices(void) {
    UNIT_TEXT(RUN("device"), "0");
    UNIT_TEXT(RUN("device", "OMP_DEFAULT_DEVICE=3"), "3");
    UNIT_TEXT(RUN("device", "OMP_TARGET_OFFLOAD=mandatory"), "-4");
    UNIT_TEXT(RUN("device", "OMP_TARGET_OFFLOAD=mandatory", "OMP_DEFAULT_DEVICE=0"), "0");
    UNIT_TEXT(RUN("nothing", "OMP_NUM_TEAMS_DEV_01=44"),
              "\nlibgomp: Invalid device number in OMP_NUM_TEAMS_DEV_01=44\n");
    UNIT_TEXT(RUN("nothing", "OMP_NUM_TEAMS_DEV_=43"),
              "\nlibgomp: Invalid device number in OMP_NUM_TEAMS_DEV_=43\n");
    UNIT_TEXT(RUN("nothing", "OMP_NUM_TEAMS_DEV_2=x"),
              "\nlibgomp: Invalid value for environment variable OMP_NUM_TEAMS_DEV_2\n");
    UNIT_TEXT(RUN("nothing", "OMP_SCHEDULE_FOO=x"),
              "\nlibgomp: Invalid environment variable in OMP_SCHEDULE_FOO=x\n");
    UNIT_TEXT(RUN("nothing", "OMP_NUM_TEAMS_DEV_2=3", "OMP_NUM_TEAMS_DEV=3",
                  "OMP_PROC_BIND_ALL=close,spread", "OMP_PLACESX=y"),
              "");
}

/* The messages of Capstan's own variables name the allowed values; a wrong value changes
 * nothing. */
static void own_variables(void) {
    UNIT_TEXT(RUN("own"), "0 0 -1");
    UNIT_TEXT(RUN("own", "CAPSTAN_SUBSTRATE=pthread", "CAPSTAN_CAPABILITIES=3"), "1 3 -1");
    UNIT_TEXT(RUN("own", "CAPSTAN_SUBSTRATE=", "CAPSTAN_CAPABILITIES="), "0 0 -1");
    const char *text = RUN("own", "CAPSTAN_SUBSTRATE=green");
    UNIT_CHECK(strstr(text, "\"green\"") && strstr(text, "CAPSTAN_SUBSTRATE") &&
               strstr(text, "\"rts\" or \"pthread\"") && strstr(text, "0 0 -1"));
    text = RUN("own", "CAPSTAN_CAPABILITIES=0");
    UNIT_CHECK(strstr(text, "CAPSTAN_CAPABILITIES") && strstr(text, "from 1 to 65535"));
    text = RUN("own", "CAPSTAN_REPORT=7");
    UNIT_CHECK(strstr(text, "CAPSTAN_REPORT") && strstr(text, "0 0 -1"));
    text = RUN("own", "CAPSTAN_REPORT=fd:999999");
    UNIT_CHECK(strstr(text, "CAPSTAN_REPORT") && strstr(text, "an open file descriptor"));
    text = RUN("own", "CAPSTAN_SUBSTRAT=rts");
    UNIT_CHECK(strstr(text, "unknown environment variable CAPSTAN_SUBSTRAT"));
    UNIT_CHECK(
        strstr(text, "known are CAPSTAN_SUBSTRATE, CAPSTAN_CAPABILITIES, CAPSTAN_IDLE_MS, "
                     "CAPSTAN_BATCHES, CAPSTAN_WAIT, CAPSTAN_ADOPT, CAPSTAN_SHARE, CAPSTAN_REPORT, "
                     "CAPSTAN_DUMP, CAPSTAN_LIBDIR\n"));
}

static void adoption(void) {
    UNIT_TEXT(RUN("adopt"), "0");
    UNIT_TEXT(RUN("adopt", "CAPSTAN_ADOPT="), "0");
    UNIT_TEXT(RUN("adopt", "CAPSTAN_ADOPT=none"), "0");
    UNIT_TEXT(RUN("adopt", "CAPSTAN_ADOPT=ALL"), "7");
    UNIT_TEXT(RUN("adopt", "CAPSTAN_ADOPT=openblas"), "1");
    UNIT_TEXT(RUN("adopt", "CAPSTAN_ADOPT= fftw , openblas "), "3");
    UNIT_TEXT(RUN("adopt", "CAPSTAN_ADOPT=onetbb"), "4");
    static const char *const wrong[] = {
        "CAPSTAN_ADOPT=openblas,", "CAPSTAN_ADOPT=,",   "CAPSTAN_ADOPT=openblas fftw",
        "CAPSTAN_ADOPT=all,fftw",  "CAPSTAN_ADOPT=mkl",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *text = RUN("adopt", wrong[i]);
        UNIT_CHECK(strstr(text, "CAPSTAN_ADOPT") && strstr(text, "\"all\", \"none\"") &&
                   text[strlen(text) - 1] == '0');
    }
}

static void sharing(void) {
    UNIT_TEXT(RUN("share"), "<>");
    UNIT_TEXT(RUN("share", "CAPSTAN_SHARE=none"), "<>");
    UNIT_TEXT(RUN("share", "CAPSTAN_SHARE=job_1-a"), "<job_1-a>");
    static const char *const wrong[] = {"CAPSTAN_SHARE=../a", "CAPSTAN_SHARE=a b",
                                        "CAPSTAN_SHARE=a23456789012345678901234567890123"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *text = RUN("share", wrong[i]);
        UNIT_CHECK(strstr(text, "CAPSTAN_SHARE") && strstr(text, "31 letters") &&
                   strstr(text, "<>"));
    }
}

static void states(void) {
    char expected[8];
    snprintf(expected, sizeof expected, "%d%d%d", CST_VARIABLE_ACCEPTED, CST_VARIABLE_ABSENT,
             CST_VARIABLE_UNKNOWN);
    UNIT_TEXT(RUN("state", "OMP_NUM_THREADS=2"), expected);
    snprintf(expected, sizeof expected, "%d%d%d", CST_VARIABLE_REJECTED, CST_VARIABLE_ACCEPTED,
             CST_VARIABLE_UNKNOWN);
    const char *text = RUN("state", "OMP_NUM_THREADS=x", "OMP_DYNAMIC=true");
    UNIT_TEXT(text + strlen(text) - 3, expected);
}

/* --- OMP_DISPLAY_ENV against the real library ------------------------------------------------ */

/* The texts include messages. The text of a case must hold on any number of processors. */
static const char *const displayed[][MOST_VARIABLES] = {
    {NULL},
    {"OMP_NUM_THREADS=4", NULL},
    {"OMP_NUM_THREADS=4,2,7", NULL},
    {"OMP_NUM_THREADS=4,,7", NULL},
    {"OMP_NUM_THREADS=0", NULL},
    {"OMP_NUM_THREADS=-3", NULL},
    {"OMP_NUM_THREADS=foo", NULL},
    {"OMP_NUM_THREADS=", NULL},
    {"OMP_NUM_THREADS= 3 ", NULL},
    {"OMP_NUM_THREADS= 3 , 4 ", NULL},
    {"OMP_SCHEDULE=static", NULL},
    {"OMP_SCHEDULE=static,4", NULL},
    {"OMP_SCHEDULE=STATIC,0", NULL},
    {"OMP_SCHEDULE=dynamic,0", NULL},
    {"OMP_SCHEDULE=monotonic:dynamic", NULL},
    {"OMP_SCHEDULE= monotonic : dynamic , 5 ", NULL},
    {"OMP_SCHEDULE=nonmonotonic:static", NULL},
    {"OMP_SCHEDULE=nonmonotonic:static,3", NULL},
    {"OMP_SCHEDULE=nonmonotonic:guided,3", NULL},
    {"OMP_SCHEDULE=auto", NULL},
    {"OMP_SCHEDULE=auto,7", NULL},
    {"OMP_SCHEDULE=foo", NULL},
    {"OMP_SCHEDULE=static,foo", NULL},
    {"OMP_SCHEDULE=static,", NULL},
    {"OMP_SCHEDULE=guided;3", NULL},
    {"OMP_SCHEDULE=dynamic,99999999999999999999", NULL},
    {"OMP_SCHEDULE=dynamic,9999999999", NULL},
    {"OMP_SCHEDULE=monotonic", NULL},
    {"OMP_DYNAMIC=true", NULL},
    {"OMP_DYNAMIC=TRUE", NULL},
    {"OMP_DYNAMIC=1", NULL},
    {"OMP_DYNAMIC= false ", NULL},
    {"OMP_NESTED=true", NULL},
    {"OMP_NESTED=false", NULL},
    {"OMP_NESTED=x", NULL},
    {"OMP_MAX_ACTIVE_LEVELS=3", NULL},
    {"OMP_MAX_ACTIVE_LEVELS=300", NULL},
    {"OMP_MAX_ACTIVE_LEVELS=0", NULL},
    {"OMP_MAX_ACTIVE_LEVELS=x", "OMP_NESTED=true", NULL},
    {"OMP_MAX_ACTIVE_LEVELS=2", "OMP_NESTED=x", NULL},
    {"OMP_THREAD_LIMIT=5", NULL},
    {"OMP_THREAD_LIMIT=0", NULL},
    {"OMP_THREAD_LIMIT=5000000000", NULL},
    {"OMP_THREAD_LIMIT=99999999999999999999", NULL},
    {"OMP_STACKSIZE=1M", NULL},
    {"OMP_STACKSIZE=1000", NULL},
    {"OMP_STACKSIZE=1", NULL},
    {"OMP_STACKSIZE=1b", "GOMP_STACKSIZE=5m", NULL},
    {"OMP_STACKSIZE=x", "GOMP_STACKSIZE=5m", NULL},
    {"OMP_STACKSIZE=3 G ", NULL},
    {"OMP_STACKSIZE=99999999999999g", NULL},
    {"OMP_STACKSIZE=0", NULL},
    {"OMP_WAIT_POLICY=active", NULL},
    {"OMP_WAIT_POLICY=PASSIVE", NULL},
    {"OMP_WAIT_POLICY=x", NULL},
    {"GOMP_SPINCOUNT=5k", NULL},
    {"GOMP_SPINCOUNT=infinite", NULL},
    {"GOMP_SPINCOUNT=infinity", NULL},
    {"GOMP_SPINCOUNT=infinitex", NULL},
    {"GOMP_SPINCOUNT=99999999999999999T", NULL},
    {"GOMP_SPINCOUNT=3q", NULL},
    {"GOMP_SPINCOUNT=0", NULL},
    {"OMP_CANCELLATION=true", NULL},
    {"OMP_CANCELLATION=tru", NULL},
    {"OMP_DISPLAY_AFFINITY=true", NULL},
    {"OMP_DISPLAY_AFFINITY=bad", NULL},
    {"OMP_AFFINITY_FORMAT=%L foo", NULL},
    {"OMP_AFFINITY_FORMAT=", NULL},
    {"OMP_DEFAULT_DEVICE=3", NULL},
    {"OMP_DEFAULT_DEVICE=-3", NULL},
    {"OMP_DEFAULT_DEVICE=5000000000", NULL},
    {"OMP_MAX_TASK_PRIORITY=4", NULL},
    {"OMP_MAX_TASK_PRIORITY=x", NULL},
    {"OMP_NUM_TEAMS=4", NULL},
    {"OMP_NUM_TEAMS=0", NULL},
    {"OMP_TEAMS_THREAD_LIMIT=4", NULL},
    {"OMP_TEAMS_THREAD_LIMIT=-4", NULL},
    {"OMP_ALLOCATOR=omp_low_lat_mem_alloc", NULL},
    {"OMP_ALLOCATOR=omp_null_allocator", NULL},
    {"OMP_ALLOCATOR=OMP_THREAD_MEM_ALLOC", NULL},
    {"OMP_TARGET_OFFLOAD=mandatory", NULL},
    {"OMP_TARGET_OFFLOAD= Disabled ", NULL},
    {"OMP_TARGET_OFFLOAD=of", NULL},
    {"GOMP_DEBUG=x", NULL},
    {"OMP_NUM_THREADS=x", "OMP_SCHEDULE=x", "OMP_DYNAMIC=x", "OMP_STACKSIZE=x", "OMP_WAIT_POLICY=x",
     "GOMP_SPINCOUNT=x", NULL},
    {"OMP_PROC_BIND=true", NULL},
    {"OMP_PROC_BIND=false", NULL},
    {"OMP_PROC_BIND=spread,close", NULL},
    {"OMP_PROC_BIND=true,close", NULL},
    {"OMP_PROC_BIND=close,x", NULL},
    {"OMP_PROC_BIND=primary", NULL},
    {"OMP_PROC_BIND=master,spread", NULL},
    {"OMP_PLACES=threads", NULL},
    {"OMP_PLACES=cores", NULL},
    {"OMP_PLACES=sockets", NULL},
    {"OMP_PLACES=ll_caches", NULL},
    {"OMP_PLACES=numa_domains", NULL},
    {"OMP_PLACES=threads(1)", NULL},
    {"OMP_PLACES=cores ( 2 ) ", NULL},
    {"OMP_PLACES=cores(x)", NULL},
    {"OMP_PLACES=cores(0)", NULL},
    {"OMP_PLACES=threads(1)x", NULL},
    {"OMP_PLACES={0},{1}", NULL},
    {"OMP_PLACES={0,1}", NULL},
    {"OMP_PLACES={0:2}", NULL},
    {"OMP_PLACES={0}:2", NULL},
    {"OMP_PLACES={0}:2:1", NULL},
    {"OMP_PLACES={1}:2:-1", NULL},
    {"OMP_PLACES=0,1", NULL},
    {"OMP_PLACES=0:2", NULL},
    {"OMP_PLACES={0:2},!{0:2}", NULL},
    {"OMP_PLACES={0},{1},!{1}", NULL},
    {"OMP_PLACES={0},!{1}", NULL},
    {"OMP_PLACES={0,1,!1}", NULL},
    {"OMP_PLACES={!1,0:2}", NULL},
    {"OMP_PLACES={0,!1}", NULL},
    {"OMP_PLACES={5},{0}", NULL},
    {"OMP_PLACES={5},{6}", NULL},
    {"OMP_PLACES={70}", NULL},
    {"OMP_PLACES={0:70}", NULL},
    {"OMP_PLACES={0}:70", NULL},
    {"OMP_PLACES={0}:2:-1", NULL},
    {"OMP_PLACES={0:2:-1}", NULL},
    {"OMP_PLACES={0", NULL},
    {"OMP_PLACES={0}x", NULL},
    {"OMP_PLACES={}", NULL},
    {"OMP_PLACES={0:0}", NULL},
    {"OMP_PLACES=", NULL},
    {"OMP_PLACES={0}:65536", NULL},
    {"OMP_PLACES=!{0}:2", NULL},
    {"OMP_PLACES={0},", NULL},
    {"OMP_PLACES= { 0 : 1 : 1 } : 2 : 1 ", NULL},
    {"OMP_PLACES={0},{1}", "OMP_PROC_BIND=false", NULL},
    {"OMP_PLACES={70}", "OMP_PROC_BIND=false", NULL},
    {"OMP_PLACES=foo", "OMP_PROC_BIND=false", NULL},
    {"OMP_PLACES={0},{1}", "OMP_PROC_BIND=spread", NULL},
    {"GOMP_CPU_AFFINITY=0 1", NULL},
    {"GOMP_CPU_AFFINITY=1 0", NULL},
    {"GOMP_CPU_AFFINITY=0-1", NULL},
    {"GOMP_CPU_AFFINITY=0-1:2", NULL},
    {"GOMP_CPU_AFFINITY=1,0", NULL},
    {"GOMP_CPU_AFFINITY=0-x", NULL},
    {"GOMP_CPU_AFFINITY=0,", NULL},
    {"GOMP_CPU_AFFINITY=", NULL},
    {"GOMP_CPU_AFFINITY=65536", NULL},
    {"GOMP_CPU_AFFINITY=77", NULL},
    {"GOMP_CPU_AFFINITY=0x1 0", NULL},
    {"GOMP_CPU_AFFINITY=0 1", "OMP_PLACES=cores", NULL},
    {"GOMP_CPU_AFFINITY=0 y", "OMP_PLACES=cores", NULL},
    {"GOMP_CPU_AFFINITY=0 1", "OMP_PROC_BIND=false", NULL},
    {"GOMP_CPU_AFFINITY=0-63", NULL},
};

static void display_is_libgomps(void) {
    const char *probe = RUN("libgomp", "LIBGOMP:OMP_DISPLAY_ENV=true");
    if (!strstr(probe, "DISPLAY ENVIRONMENT") || strstr(probe, "[host]")) {
        printf("# no libgomp of GCC 12 to compare with\n");
        return;
    }
    if (cst_config.available <
        cst_cpu_affinity_count()) { /* libgomp does not see the quota that decides the number */
        printf("# not compared under a CPU quota\n");
        return;
    }
    int different = 0;
    for (size_t i = 0; i < sizeof displayed / sizeof displayed[0]; i++) {
        const char *ours[MOST_VARIABLES + 2] = {"OMP_DISPLAY_ENV=verbose"};
        const char *theirs[MOST_VARIABLES + 2] = {"LIBGOMP:OMP_DISPLAY_ENV=verbose"};
        char text[MOST_VARIABLES][100];
        for (int j = 0; displayed[i][j]; j++) {
            snprintf(text[j], sizeof text[j], "LIBGOMP:%s", displayed[i][j]);
            ours[j + 1] = displayed[i][j];
            theirs[j + 1] = text[j];
        }
        const char *found = run("nothing", ours), *expected = run("libgomp", theirs);
        if (strcmp(found, expected) == 0) continue;
        printf("# %s:\n# ours: %s\n# libgomp's: %s\n",
               displayed[i][0] ? displayed[i][0] : "no variable", found, expected);
        different++;
    }
    UNIT_EQUAL(different, 0);
}

int main(int count, char **arguments) {
    if (count > 1) return answer(arguments[1]);
    unit_limit(120);
    UNIT_RUN(threads);
    UNIT_RUN(schedules);
    UNIT_RUN(waiting);
    UNIT_RUN(switches);
    UNIT_RUN(wrong_switches);
    UNIT_RUN(stacks);
    UNIT_RUN(binding);
    UNIT_RUN(devices);
    UNIT_RUN(own_variables);
    UNIT_RUN(adoption);
    UNIT_RUN(sharing);
    UNIT_RUN(states);
    UNIT_RUN(display_is_libgomps);
    return unit_result();
}
