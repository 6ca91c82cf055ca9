/* Numbers beyond all bounds, from the environment and from the program. The library refuses each
 * with a message that names it, and the program goes on or ends. No memory is overwritten, and no
 * computation runs for ever. GCC's runtime crashes or computes for ever.
 * test: not stock libgomp crashes
 * test: not address the test needs more address space than the sanitizer leaves
 * test: not qemu a child makes threads until memory ends, which lasts a minute
 */
#define _GNU_SOURCE
#include "process.h"
#include <limits.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_teams_reg(void (*body)(void *), void *data, unsigned teams, unsigned limit,
                    unsigned flags);
void GOMP_task(void (*body)(void *), void *data, void (*copy)(void *, void *), long size,
               long alignment, bool wanted, unsigned flags, void **depend, int priority,
               void *detach);
void GOMP_taskgroup_reduction_register(uintptr_t *data);
void GOMP_target_ext(int device, void (*body)(void *), size_t count, void **addresses,
                     size_t *sizes, unsigned short *kinds, unsigned flags, void **depend,
                     void **arguments);
bool GOMP_loop_start(long begin, long end, long step, long schedule, long chunk, long *first,
                     long *last, uintptr_t *reductions, void **memory);

static int members;

static void member(void *data) {
    (void)data;
    INCREMENT(&members);
}

/* --- acts of the child ---------------------------------------------------------------------- */

static void show(void) {
#pragma omp parallel num_threads(2)
    INCREMENT(&members);
    printf("alive %d\n", members);
}

/* The call is repeated: a message for each repetition would be seen. */
static void clause(void) {
    for (int round = 0; round < 100; round++) {
        members = 0;
        GOMP_parallel(member, NULL, UINT_MAX - (unsigned)round, 0);
        CHECK_EQ(members, 3);
    }
    puts("end");
}

static void call(void) {
    omp_set_num_threads(2);
    omp_set_num_threads(INT_MAX);
    CHECK_EQ(omp_get_max_threads(), 3);
#pragma omp parallel
    INCREMENT(&members);
    CHECK_EQ(members, 3);
    omp_set_num_threads(1 << 22); /* allowed */
    CHECK_EQ(omp_get_max_threads(), 1 << 22);
    puts("end");
}

static void teams(void) {
    GOMP_teams_reg(member, NULL, UINT_MAX, 0, 0);
    CHECK_EQ(members, 3);
    puts("end");
}

/* With 1 GiB of address space, a region that asks for four million threads gets fewer members and
 * takes little memory. */
static void four_million(void) {
    struct rlimit now = {.rlim_cur = 1 << 30, .rlim_max = 1 << 30};
    CHECK(setrlimit(RLIMIT_AS, &now) == 0);
    GOMP_parallel(member, NULL, 4000000, 0);
    CHECK(members >= 1 && members < 4000000);
    long most = status_number("VmHWM");
    if (most >= 128 << 10) fprintf(stderr, "%ld KiB for %d threads\n", most, members);
    CHECK(most < 128 << 10);
    puts("end");
}

static void wide_field(void) {
    char text[16];
    omp_capture_affinity(text, sizeof text, "AAAA%18446744073709551615n");
    puts("not refused");
}

static void large_task(void) {
    char data[16] = "";
#pragma omp parallel num_threads(2)
#pragma omp single
    GOMP_task(member, data, NULL, (long)(SIZE_MAX - 8), 16, true, 0, NULL, 0, NULL);
    puts("not refused");
}

static void large_reduction(void) {
    uintptr_t data[10] = {1, SIZE_MAX / 2 + 1, 8, 0, 0, 0, 0, (uintptr_t)&members, 0, 0};
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    GOMP_taskgroup_reduction_register(data);
    puts("not refused");
}

static void large_private(void) {
    enum { FIRSTPRIVATE = 0x0c };
    char first[8] = "", second[8] = "";
    void *addresses[] = {first, second};
    size_t sizes[] = {8, SIZE_MAX - 4};
    unsigned short kinds[] = {FIRSTPRIVATE, FIRSTPRIVATE};
    GOMP_target_ext(-1, member, 2, addresses, sizes, kinds, 0, NULL, NULL);
    puts("not refused");
}

static void large_shared(void) {
    void *memory = (void *)(UINTPTR_MAX - 3);
    GOMP_loop_start(0, 10, 1, 1, 0, NULL, NULL, NULL, &memory);
    puts("not refused");
}

static const struct {
    const char *name;
    void (*act)(void);
} acts[] = {{"show", show},
            {"clause", clause},
            {"call", call},
            {"teams", teams},
            {"four million", four_million},
            {"wide field", wide_field},
            {"large task", large_task},
            {"large reduction", large_reduction},
            {"large private", large_private},
            {"large shared", large_shared}};

static int in_child(const char *name) {
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        if (!strcmp(acts[i].name, name)) {
            acts[i].act();
            fflush(stdout);
            return 0;
        }
    return 99;
}

/* --- messages of the child ------------------------------------------------------------------ */

static int count(const char *text, const char *part) {
    int found = 0;
    for (; (text = strstr(text, part)); text++) found++;
    return found;
}

static void expect_text(const struct child *child, const char *const *parts) {
    for (; *parts; parts++) {
        if (count(child->output, *parts) != 1)
            fprintf(stderr, "not once \"%s\" in: %s\n", *parts, child->output);
        CHECK_EQ(count(child->output, *parts), 1);
    }
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void goes_on(const char *act, const char *setting, const char *more,
                    const char *const *parts) {
    struct child child = run_child(
        act,
        &(struct child_options){.environment = {setting ? setting : "OMP_NUM_THREADS=3", more}});
    EXPECT_EXIT(child, 0);
    expect_text(&child, parts);
}

/* The child ends with a message, and with libgomp's status. */
static void ends(const char *act, const char *const *parts) {
    struct child child = run_child(act, NULL);
    EXPECT_EXIT(child, 1);
    expect_text(&child, parts);
}

static void environment(void) {
    char format[160] = "OMP_AFFINITY_FORMAT=";
    memset(format + strlen(format), 'A', 100);
    strcat(format, "%18446744073709551451n");
    goes_on("show", format, "OMP_DISPLAY_AFFINITY=true",
            PARTS("Invalid value for environment variable OMP_AFFINITY_FORMAT\n", "alive 2\n"));
    goes_on("show", "OMP_AFFINITY_FORMAT=%1025n", NULL, PARTS("OMP_AFFINITY_FORMAT", "alive 2\n"));
    goes_on("show", "OMP_PLACES={0:18446744073709551615:0}", NULL,
            PARTS("Interval of length 18446744073709551615 is longer than the number of possible "
                  "logical CPUs, 8192\n",
                  "Invalid value for environment variable OMP_PLACES\n", "alive 2\n"));
    goes_on("show", "OMP_PLACES={0}:8193:0", NULL,
            PARTS("Interval of length 8193 ", "variable OMP_PLACES\n", "alive 2\n"));
    goes_on("show", "OMP_NUM_THREADS=2,4194305", NULL,
            PARTS("Invalid value for environment variable OMP_NUM_THREADS: 2,4194305 asks for more "
                  "threads than the 4194304 ",
                  "alive 2\n"));
    goes_on("show", "OMP_STACKSIZE=18446744073709551615B", NULL,
            PARTS("asked for 2 threads runs with 1", "alive 1\n"));
}

static void many_variables(void) {
    static char text[2000][40];
    for (int i = 0; i < 2000; i++) {
        snprintf(text[i], sizeof text[i], "OMP_NUM_TEAMS_DEV_%d=3", i);
        putenv(text[i]);
    }
}

static void program(void) {
    goes_on("clause", NULL, NULL,
            PARTS("a num_threads clause asks for 4294967295 threads", "more than 4194304;",
                  "default of 3 ", "end\n"));
    goes_on("call", NULL, NULL,
            PARTS("omp_set_num_threads asks for 2147483647 threads", "more than 4194304;",
                  "default of 3 ", "end\n"));
    goes_on("teams", NULL, NULL,
            PARTS("a num_teams clause asks for 4294967295 teams", "2147483647 are", "end\n"));
    goes_on("four million", NULL, "OMP_STACKSIZE=16M", PARTS("asked for 4000000 threads", "end\n"));
    ends("wide field",
         PARTS("libgomp: size 18446744073709551615 in affinity format is larger than 1024\n"));
    ends("large task", PARTS("libgomp: Out of memory allocating"));
    ends("large reduction", PARTS("libgomp: Out of memory allocating"));
    ends("large private", PARTS("libgomp: Out of memory allocating"));
    ends("large shared", PARTS("libgomp: Out of memory allocating"));
}

int main(int arguments, char **argument) {
    test_limit(55);
    if (arguments > 1) return in_child(argument[1]);
    environment();
    program();
    struct child child = run_child("show", &(struct child_options){.prepare = many_variables});
    EXPECT_EXIT(child, 0);
    expect_text(&child, PARTS("more than 1024 variables for devices", "alive 2\n"));
    return 0;
}
