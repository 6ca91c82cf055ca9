/* The texts that the library writes on request: OMP_DISPLAY_ENV and omp_display_env, affinity
 * lines, and the error directive. A fatal error directive ends the process.
 */
#include "process.h"
#include <omp.h>

void omp_display_env_(const int *);
void omp_display_env_8_(const long long *);
void omp_display_affinity_(const char *, size_t);

static void act(const char *what) {
    alarm(20);
    if (!strcmp(what, "warning")) {
#pragma omp error at(execution) severity(warning) message("careful")
        puts("still here");
    }
    if (!strcmp(what, "fatal")) {
#pragma omp error at(execution) severity(fatal) message("that is all")
        puts("not here");
    }
    if (!strcmp(what, "display")) omp_display_env(0);
    if (!strcmp(what, "verbose")) omp_display_env(1);
    const int verbose = 1;
    const long long verbose_8 = 1;
    if (!strcmp(what, "verbose in Fortran")) omp_display_env_(&verbose);
    if (!strcmp(what, "verbose in Fortran with long integers")) omp_display_env_8_(&verbose_8);
    if (!strcmp(what, "affinity in Fortran")) omp_display_affinity_("thread %n of %N", 15);
    if (!strcmp(what, "affinity")) {
        fflush(stdout);
        omp_display_affinity("thread %n of %N");
#pragma omp parallel num_threads(2)
        {
#pragma omp critical
            omp_display_affinity("level %L");
        }
    }
    if (!strcmp(what, "affinity by variable")) {
#pragma omp parallel num_threads(2)
        omp_get_thread_num();
    }
}

static int count(const char *text, const char *part) {
    int found = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part)) found++;
    return found;
}

static void expect_all(const struct child *child, const char *const *parts) {
    for (; *parts; parts++) {
        if (count(child->output, *parts) != 1)
            fprintf(stderr, "\"%s\" is not once in:\n%s\n", *parts, child->output);
        CHECK_EQ(count(child->output, *parts), 1);
    }
}

/* Each setting is shown with the device that it holds for, as libgomp does since GCC 13. */
#if __GNUC__ >= 13
#define HOST "\n  [host] "
#define ALL "\n  [all] "
#else
#define HOST "\n  "
#define ALL "\n  "
#endif
#define TEXT_OF(number) #number
#define QUOTED(number) "'" TEXT_OF(number) "'"

static const char *const standard_lines[] = {
    "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n", "\n  _OPENMP = " QUOTED(_OPENMP) "\n",
    HOST "OMP_DYNAMIC = 'FALSE'\n",         HOST "OMP_NESTED = 'FALSE'\n",
    HOST "OMP_NUM_THREADS = '3'\n",         HOST "OMP_SCHEDULE = 'GUIDED,4'\n",
    HOST "OMP_PROC_BIND = 'FALSE'\n",       HOST "OMP_PLACES = ''\n",
    HOST "OMP_WAIT_POLICY = 'PASSIVE'\n",   HOST "OMP_THREAD_LIMIT = '50'\n",
    HOST "OMP_MAX_ACTIVE_LEVELS = '1'\n",   HOST "OMP_NUM_TEAMS = '0'\n",
    HOST "OMP_TEAMS_THREAD_LIMIT = '0'\n",  ALL "OMP_CANCELLATION = 'FALSE'\n",
    ALL "OMP_DEFAULT_DEVICE = '0'\n",       ALL "OMP_MAX_TASK_PRIORITY = '0'\n",
    ALL "OMP_DISPLAY_AFFINITY = 'FALSE'\n", ALL "OMP_TARGET_OFFLOAD = 'DEFAULT'\n",
    "\nOPENMP DISPLAY ENVIRONMENT END\n",   NULL};

static const char *const verbose_lines[] = {HOST "GOMP_CPU_AFFINITY = ''\n",
                                            HOST "GOMP_STACKSIZE = '65536'\n",
                                            HOST "GOMP_SPINCOUNT = '17'\n", NULL};

#define SETTINGS                                                                                   \
    "OMP_NUM_THREADS=3", "OMP_SCHEDULE=guided,4", "OMP_WAIT_POLICY=passive",                       \
        "OMP_THREAD_LIMIT=50", "OMP_STACKSIZE=64k", "GOMP_SPINCOUNT=17"

static void environment(void) {
    struct child child = run_child("display", &(struct child_options){.environment = {SETTINGS}});
    EXPECT_EXIT(child, 0);
    expect_all(&child, standard_lines);
    CHECK_EQ(count(child.output, "GOMP_STACKSIZE"), 0);
    static const char *const verbose[] = {"verbose", "verbose in Fortran",
                                          "verbose in Fortran with long integers"};
    for (int i = 0; i < 3; i++) {
        child = run_child(verbose[i], &(struct child_options){.environment = {SETTINGS}});
        EXPECT_EXIT(child, 0);
        expect_all(&child, standard_lines);
        expect_all(&child, verbose_lines);
    }
    child = run_child(
        "nothing", &(struct child_options){.environment = {SETTINGS, "OMP_DISPLAY_ENV=verbose"}});
    EXPECT_EXIT(child, 0);
    expect_all(&child, standard_lines);
    expect_all(&child, verbose_lines);
}

static void affinity(void) {
    struct child child = run_child("affinity", NULL);
    EXPECT_EXIT(child, 0);
    CHECK_EQ(count(child.output, "thread 0 of 1\n"), 1);
    CHECK_EQ(count(child.output, "level 1\n"), 2);
    child = run_child("affinity in Fortran", NULL);
    EXPECT_EXIT(child, 0);
    CHECK_EQ(count(child.output, "thread 0 of 1\n"), 1);
    child = run_child("affinity by variable",
                      &(struct child_options){.environment = {"OMP_DISPLAY_AFFINITY=true",
                                                              "OMP_AFFINITY_FORMAT=<%n/%N>"}});
    EXPECT_EXIT(child, 0);
    CHECK_EQ(count(child.output, "<0/2>\n"), 1);
    CHECK_EQ(count(child.output, "<1/2>\n"), 1);
}

static void error_directive(void) {
    struct child child = run_child("warning", NULL);
    EXPECT_EXIT(child, 0);
    CHECK_EQ(count(child.output, "libgomp: error directive encountered: careful\n"), 1);
    CHECK_EQ(count(child.output, "still here\n"), 1);
    child = run_child("fatal", NULL);
    EXPECT_EXIT(child, 1);
    CHECK_EQ(count(child.output, "libgomp: fatal error: error directive encountered: that is all"),
             1);
    CHECK_EQ(count(child.output, "not here"), 0);
}

int main(int arguments, char **argument) {
    if (arguments > 1) {
        act(argument[1]);
        return 0;
    }
    test_limit(50);
    environment();
    affinity();
    error_directive();
    return 0;
}
