/* For a malformed variable the library writes GCC's message to stderr, takes the default value, and
 * goes on. It takes good values in unusual form. The table shows the behaviour of libgomp 12.
 */
#include "process.h"
#include <omp.h>

struct entry {
    const char *setting;
    const char *message; /* after "\nlibgomp: ", with a newline; NULL: no message; "": any message
                          * of that form */
    const char *effect;  /* the output of show(); NULL: the output without the variable */
};

#define INVALID(name) "Invalid value for environment variable " name

static char too_small[80];

static const struct entry table[] = {
    {"OMP_NUM_THREADS=abc", INVALID("OMP_NUM_THREADS"), NULL},
    {"OMP_NUM_THREADS=0", INVALID("OMP_NUM_THREADS"), NULL},
    {"OMP_NUM_THREADS=-3", INVALID("OMP_NUM_THREADS"), NULL},
    {"OMP_NUM_THREADS=4,0", INVALID("OMP_NUM_THREADS"), NULL},
    {"OMP_NUM_THREADS=4,", INVALID("OMP_NUM_THREADS"), NULL},
    {"OMP_NUM_THREADS=", INVALID("OMP_NUM_THREADS"), NULL},
    {"OMP_NUM_THREADS=3x", INVALID("OMP_NUM_THREADS"), NULL},
    {"OMP_NUM_THREADS=99999999999999999999", INVALID("OMP_NUM_THREADS"), NULL},
    {"OMP_NUM_THREADS= 3 ", NULL, "threads 3"},
    {"OMP_NUM_THREADS= 3 , 2", NULL, "threads 3 levels 255"},
    {"OMP_SCHEDULE=nonsense", "Unknown value for environment variable OMP_SCHEDULE", NULL},
    {"OMP_SCHEDULE=", "Unknown value for environment variable OMP_SCHEDULE", NULL},
    {"OMP_SCHEDULE=dynamic,", "Invalid value for chunk size in environment variable OMP_SCHEDULE",
     NULL},
    {"OMP_SCHEDULE=DYNAMIC , 5", NULL, "schedule 2/5"},
    {"OMP_SCHEDULE=monotonic:dynamic,3", NULL, "schedule 80000002/3"},
    {"OMP_SCHEDULE=nonmonotonic: guided,2", NULL, "schedule 3/2"},
    {"OMP_SCHEDULE=static,3", NULL, "schedule 80000001/3"},
    {"OMP_SCHEDULE=auto", NULL, "schedule 4/1"},
    {"OMP_DYNAMIC=maybe", INVALID("OMP_DYNAMIC"), NULL},
    {"OMP_DYNAMIC=TRUE", NULL, "dynamic 1"},
    {"OMP_NESTED=yes", INVALID("OMP_NESTED"), NULL},
    {"OMP_NESTED=true", NULL, "levels 255"},
    {"OMP_MAX_ACTIVE_LEVELS=-1", INVALID("OMP_MAX_ACTIVE_LEVELS"), NULL},
    {"OMP_MAX_ACTIVE_LEVELS=3", NULL, "levels 3"},
    {"OMP_MAX_ACTIVE_LEVELS=1000", NULL, "levels 255"},
    {"OMP_CANCELLATION=1", INVALID("OMP_CANCELLATION"), NULL},
    {"OMP_CANCELLATION=true", NULL, "cancel 1"},
    {"OMP_MAX_TASK_PRIORITY=-1", INVALID("OMP_MAX_TASK_PRIORITY"), NULL},
    {"OMP_MAX_TASK_PRIORITY=7", NULL, "priority 7"},
    {"OMP_PROC_BIND=sometimes", INVALID("OMP_PROC_BIND"), NULL},
    {"OMP_PROC_BIND=spread", NULL, "bind 4"},
    {"OMP_PLACES=nonsense", INVALID("OMP_PLACES"), NULL},
    {"OMP_PLACES={0:", INVALID("OMP_PLACES"), NULL},
    {"OMP_THREAD_LIMIT=0", INVALID("OMP_THREAD_LIMIT"), NULL},
    {"OMP_THREAD_LIMIT=many", INVALID("OMP_THREAD_LIMIT"), NULL},
    {"OMP_THREAD_LIMIT=5", NULL, "limit 5"},
    {"OMP_WAIT_POLICY=eager", INVALID("OMP_WAIT_POLICY"), NULL},
    {"OMP_WAIT_POLICY=Active", NULL, NULL},
    {"OMP_STACKSIZE=big", INVALID("OMP_STACKSIZE"), NULL},
    {"OMP_STACKSIZE=99999999999G", INVALID("OMP_STACKSIZE"), NULL},
    {"OMP_STACKSIZE=16 M", NULL, NULL},
    {"OMP_STACKSIZE=1", too_small, NULL},
    {"GOMP_SPINCOUNT=few", INVALID("GOMP_SPINCOUNT"), NULL},
    {"GOMP_SPINCOUNT=infinite", NULL, NULL},
    {"OMP_NUM_TEAMS=0", INVALID("OMP_NUM_TEAMS"), NULL},
    {"OMP_NUM_TEAMS=3", NULL, "teams 3"},
    {"OMP_TEAMS_THREAD_LIMIT=x", INVALID("OMP_TEAMS_THREAD_LIMIT"), NULL},
    {"OMP_DEFAULT_DEVICE=-1", INVALID("OMP_DEFAULT_DEVICE"), NULL},
    {"OMP_TARGET_OFFLOAD=perhaps", INVALID("OMP_TARGET_OFFLOAD"), NULL},
    {"OMP_DISPLAY_ENV=perhaps", INVALID("OMP_DISPLAY_ENV"), NULL},
    {"OMP_DISPLAY_AFFINITY=2", INVALID("OMP_DISPLAY_AFFINITY"), NULL},
    {"OMP_ALLOCATOR=nonsense", INVALID("OMP_ALLOCATOR"), NULL},
    {"OMP_ALLOCATOR=omp_high_bw_mem_alloc", NULL, NULL},
    /* GCC takes this for 0 threads. Capstan refuses it, as the message says. */
    {"OMP_NUM_THREADS=-99999999999999999999", INVALID("OMP_NUM_THREADS"), NULL},
    {"GOMP_CPU_AFFINITY=abc", "", NULL}, /* its message has a spelling mistake until GCC 13 */
};

/* Prints the values that differ from the defaults, so that the number of processors does not
 * matter. */
static void show(void) {
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    if (omp_get_max_threads() != omp_get_num_procs()) printf("threads %d ", omp_get_max_threads());
    if (omp_get_dynamic()) printf("dynamic %d ", omp_get_dynamic());
    if (omp_get_max_active_levels() != 1) printf("levels %d ", omp_get_max_active_levels());
    if (kind != omp_sched_dynamic || chunk != 1) printf("schedule %x/%d ", (unsigned)kind, chunk);
    if (omp_get_cancellation()) printf("cancel 1 ");
    if (omp_get_max_task_priority()) printf("priority %d ", omp_get_max_task_priority());
    if (omp_get_proc_bind() != omp_proc_bind_false) printf("bind %d ", (int)omp_get_proc_bind());
    if (omp_get_thread_limit() < 1000000000) printf("limit %d ", omp_get_thread_limit());
    if (omp_get_max_teams()) printf("teams %d ", omp_get_max_teams());
    int count = 0;
#pragma omp parallel num_threads(2)
    INCREMENT(&count);
    CHECK(count == 1 || count == 2); /* 1, if OMP_DYNAMIC reduces the team */
    puts("end");
}

static void expect(const struct entry *entry) {
    char wanted[500];
    const char *effect = entry->effect ? entry->effect : "";
    struct child child =
        run_child("show", &(struct child_options){.environment = {entry->setting}});
    EXPECT_EXIT(child, 0);
    snprintf(wanted, sizeof wanted, "%s%s%s%s%send\n", entry->message ? "\nlibgomp: " : "",
             entry->message ? entry->message : "", entry->message ? "\n" : "", effect,
             *effect ? " " : "");
    if (entry->message && !*entry->message) {
        CHECK(!strncmp(child.output, "\nlibgomp: ", 10));
        CHECK(strstr(child.output, "GOMP_CPU_AFFINITY\nend\n") != NULL);
        return;
    }
    if (strcmp(child.output, wanted))
        fprintf(stderr, "%s gave:\n%s\ninstead of:\n%s\n", entry->setting, child.output, wanted);
    CHECK(!strcmp(child.output, wanted));
}

int main(int count, char **arguments) {
    (void)arguments;
    test_limit(50);
    if (count > 1) {
        show();
        return 0;
    }
    snprintf(too_small, sizeof too_small, "Stack size less than minimum of %ldk",
             sysconf(_SC_THREAD_STACK_MIN) / 1024);
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) expect(&table[i]);
    return 0;
}
