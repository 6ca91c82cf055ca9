/* In a process with code of both compilers one runtime serves all. Code of one compiler sees the
 * other's region, locks and tasks. One library is loaded, and it makes only the threads of the
 * largest team.
 *
 * test: shared parts/gcc.c -fopenmp
 * test: not clang-stock the part has a libgomp of its own
 * test: flags -ldl
 */
#include "host/process.h"

#include <omp.h>

#include <dlfcn.h>

static int (*members)(int), (*number)(void), (*level)(void), (*nest)(omp_nest_lock_t *);
static void (*schedule)(int *, int *), (*locked)(omp_lock_t *, long *, int), (*tasks)(int, int *);

static void *find(void *part, const char *name) {
    void *found = dlsym(part, name);
    CHECK(found != NULL);
    return found;
}

static void load(const char *program) {
    char path[4096];
    snprintf(path, sizeof path, "%.*s/gcc.so", (int)(strrchr(program, '/') - program), program);
    void *part = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!part) fprintf(stderr, "%s\n", dlerror());
    CHECK(part != NULL);
    members = (int (*)(int))find(part, "gcc_members");
    number = (int (*)(void))find(part, "gcc_number");
    level = (int (*)(void))find(part, "gcc_level");
    nest = (int (*)(omp_nest_lock_t *))find(part, "gcc_nest");
    schedule = (void (*)(int *, int *))find(part, "gcc_schedule");
    locked = (void (*)(omp_lock_t *, long *, int))find(part, "gcc_lock");
    tasks = (void (*)(int, int *))find(part, "gcc_tasks");
}

/* Returns the number of executable mappings of files with the name of an OpenMP runtime. */
static int count_runtimes(void) {
    int count = 0;
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps)) {
        const char *name = strrchr(line, '/');
        if (name && strstr(line, "r-xp") &&
            (!strncmp(name, "/libgomp", 8) || !strncmp(name, "/libomp", 7) ||
             !strncmp(name, "/libiomp", 8)))
            count++;
    }
    fclose(maps);
    return count;
}

/* Without a call the runtime schedule is static for code of clang, and dynamic,1 for code of GCC. A
 * schedule that a call set holds for both. */
static void schedules(void) {
    omp_sched_t mine;
    int chunk, theirs;
    omp_get_schedule(&mine, &chunk);
    CHECK_EQ(mine, omp_sched_static);
    schedule(&theirs, &chunk);
    CHECK_EQ(theirs, omp_sched_dynamic);
    CHECK_EQ(chunk, 1);
    omp_set_schedule(omp_sched_guided, 7);
    omp_get_schedule(&mine, &chunk);
    CHECK_EQ(mine, omp_sched_guided);
    CHECK_EQ(chunk, 7);
    schedule(&theirs, &chunk);
    CHECK_EQ(theirs, omp_sched_guided);
    CHECK_EQ(chunk, 7);
}

static void locks(void) {
    /* clang's locks have eight bytes each; GCC's have four and sixteen. */
    struct {
        omp_nest_lock_t lock;
        unsigned long after;
    } nested = {.after = 0x5a5a5a5a5a5a5a5aul};
    omp_lock_t lock;
    long sum = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nested.lock);
#pragma omp parallel num_threads(4)
    {
        locked(&lock, &sum, 1000);
        for (int i = 0; i < 1000; i++) {
            omp_set_lock(&lock);
            sum++;
            omp_unset_lock(&lock);
        }
    }
    CHECK_EQ(sum, 8000);
    CHECK_EQ(nest(&nested.lock), 2);
    omp_set_nest_lock(&nested.lock);
    CHECK_EQ(nest(&nested.lock), 3);
    omp_unset_nest_lock(&nested.lock);
    CHECK_EQ(nested.after, 0x5a5a5a5a5a5a5a5aul);
    omp_destroy_nest_lock(&nested.lock);
    omp_destroy_lock(&lock);
}

int main(int count, char **arguments) {
    (void)count;
    test_limit(20);
    load(arguments[0]);
    schedules();
    int before = 0;
#pragma omp parallel num_threads(4) reduction(+ : before)
    {
        before++;
        CHECK_EQ(number(), omp_get_thread_num());
        CHECK_EQ(level(), 1);
    }
    CHECK_EQ(before, 4);
    long threads = thread_count();
    CHECK(threads > 0);
    for (int i = 0; i < 10; i++) CHECK_EQ(members(4), 4);
    CHECK_EQ(thread_count(), threads);
    CHECK_EQ(count_runtimes(), 1);
    locks();
    int done = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
#pragma omp taskgroup
    tasks(100, &done);
    CHECK_EQ(GET(&done), 100);
    return 0;
}
