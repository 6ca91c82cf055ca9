/* OpenBLAS's threads: its parallel sections are regions of the pool.
 *
 * Since 0.3.27 a program may give OpenBLAS a function that runs a section: job(number, data + i *
 * size, buffer) for all i below `jobs`, complete when the function returns. No manual states the
 * following facts; the sources of 0.3.29 to 0.3.31 show them:
 *
 *  - Jobs of one section wait for each other without yielding (level3_thread.c, "working"). Each
 *    job needs a thread at once; on fewer threads the section would never end.
 *  - The number is not a member's number. It names the memory in which the job works, and a slot
 *    for orders. OpenBLAS's own threads have the numbers from 0, and two jobs with one number write
 *    into the same memory. So numbers are taken from the upper end, and one section runs at a time.
 *  - LU factorisation does not call the function, but uses OpenBLAS's own threads
 *    (exec_blas_async), which sleep otherwise. So these threads cannot be ended.
 *  - At a fork, OpenBLAS ends its threads and frees the memory of all numbers. So a fork waits
 *    until no section runs.
 *
 * If these conditions cannot be met (too few numbers are left, or too few threads can be made), the
 * library is given back. Its function is reset, and it executes this section and all later ones
 * with its own threads. */
#include "adopt/foreign.h"
#include "core/front.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef void openblas_job(int number, void *data, int buffer);
typedef void openblas_section(int sync, openblas_job *job, int jobs, size_t size, void *data,
                              int buffer);

struct section {
    openblas_job *job;
    char *data;
    size_t size;
    int buffer;
    uint32_t first; /* number */
};

/* One section at a time runs, of all libraries: their threads spin, and the processors suffice for
 * one section. Held across a fork. */
static cst_lock turn;

/* The thread executes a job: it has the turn, and must not wait for it. */
static _Thread_local bool in_job __attribute__((tls_model("initial-exec")));

/* --- fork ------------------------------------------------------------------------------------ */

/* The nesting of the handlers in one fork. Each library's first section registers them anew, so
 * that they run before that library's own handlers. So one fork calls them several times. */
static _Thread_local uint32_t forking __attribute__((tls_model("initial-exec")));

static void before_fork(void) {
    if (forking++ == 0 && !in_job) cst_lock_acquire(&turn);
}

static void after_fork(void) {
    if (--forking == 0 && !in_job) cst_lock_release(&turn);
}

/* --- sections -------------------------------------------------------------------------------- */

static void member(void *argument) {
    struct section *section = argument;
    uint32_t number = cst_ask_number();
    in_job = true;
    section->job((int)(section->first + number), section->data + number * section->size,
                 section->buffer);
    in_job = false;
}

static void give_back(struct cst_foreign *library, const char *why) {
    cst_store_relaxed(&library->why, why);
    library->openblas.set(NULL);
}

/* Called at the first section: before, the library may not be ready for calls. */
static void prepare(struct cst_openblas *openblas) {
    const char *most = strstr(openblas->config(), "MAX_THREADS=");
    openblas->most = most ? (uint32_t)strtoul(most + strlen("MAX_THREADS="), NULL, 10) : 1;
    pthread_atfork(before_fork, after_fork, after_fork);
}

/* The reason why the section cannot run here; NULL: it has run. The caller has the turn. */
static const char *run_section(struct cst_openblas *openblas, struct section *section,
                               uint32_t jobs) {
    if (openblas->most == 0) prepare(openblas);
    int threads = cst_load_relaxed(openblas->threads);
    uint32_t own = threads > 1 ? (uint32_t)threads - 1 : 0;
    if (jobs + own > openblas->most)
        return "its own threads leave no numbers for the section's jobs";
    section->first = openblas->most - jobs;
    struct cst_region region = {
        .front = CST_FRONT_ADOPT, .function = member, .data = section, .threads = jobs};
    if (!cst_region_run_exactly(cst_self(), &region))
        return "too few threads could be made for the section's jobs";
    return NULL;
}

static void execute(struct cst_foreign *library, openblas_job *job, int jobs, size_t size,
                    void *data, int buffer) {
    struct section section = {.job = job, .data = data, .size = size, .buffer = buffer};
    const char *why = "one of its jobs began another section";
    if (!in_job) {
        cst_lock_acquire(&turn);
        why = cst_load_relaxed(&library->why);
        if (!why) why = run_section(&library->openblas, &section, (uint32_t)jobs);
        if (!why) cst_foreign_count(library, (uint32_t)jobs);
        cst_lock_release(&turn);
    }
    if (cst_likely(!why)) return;
    give_back(library, why);
    library->openblas.execute(jobs, data);
}

/* --- which library --------------------------------------------------------------------------- */

/* The function gets no data pointer, so each library has a function of its own. */
enum { LIBRARIES = 8 };
static struct cst_foreign *adopted[LIBRARIES];
static uint32_t count;

#define SECTION(n)                                                                                 \
    static void section_##n(int sync, openblas_job *job, int jobs, size_t size, void *data,        \
                            int buffer) {                                                          \
        CST_KEEP_FRAME();                                                                          \
        (void)sync; /* complete on return, as both kinds allow */                                  \
        execute(adopted[n], job, jobs, size, data, buffer);                                        \
    }
SECTION(0)
SECTION(1)
SECTION(2)
SECTION(3)
SECTION(4)
SECTION(5)
SECTION(6)
SECTION(7)
static openblas_section *const sections[LIBRARIES] = {section_0, section_1, section_2, section_3,
                                                      section_4, section_5, section_6, section_7};

/* Finds a name. Packagers add prefixes and suffixes: numpy's wheel has
 * scipy_openblas_get_config64_. They may differ within one library. */
static void *find(const struct cst_elf *elf, const char *name) {
    static const char *const before[] = {"", "scipy_"}, *const after[] = {"", "64_", "_64", "64"};
    char full[80]; /* not by snprintf(3): that would cost processes without OpenBLAS 10 us */
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        for (size_t j = 0; j < sizeof after / sizeof *after; j++) {
            stpcpy(stpcpy(stpcpy(full, before[i]), name), after[j]);
            void *found = cst_elf_find(elf, full);
            if (found) return found;
        }
    return NULL;
}

static const char *reason_against(const struct cst_openblas *openblas, int parallel) {
    if (parallel == 0) return "it was built without threads";
    if (parallel == 2) return cst_foreign_openmp;
    if (!openblas->set) return "it is older than 0.3.27, and has no call to use other threads";
    if (!openblas->execute || !openblas->config || !openblas->threads)
        return "it does not export the functions that give it back";
    if (count == LIBRARIES) return "the process has had as many copies as can be adopted";
    return NULL;
}

bool cst_openblas_is(const struct cst_elf *elf) {
    return find(elf, "openblas_get_parallel") != NULL;
}

void cst_openblas_adopt(struct cst_foreign *library, const struct cst_elf *elf) {
    struct cst_openblas *openblas = &library->openblas;
    int (*parallel)(void);
    *(void **)&parallel = find(elf, "openblas_get_parallel");
    *(void **)&openblas->set = find(elf, "openblas_set_threads_callback_function");
    *(void **)&openblas->config = find(elf, "openblas_get_config");
    *(void **)&openblas->execute = cst_elf_find(elf, "exec_blas");
    openblas->threads = cst_elf_find(elf, "blas_num_threads");
    const char *why = reason_against(openblas, parallel());
    cst_store_relaxed(&library->why, why);
    if (why) return;
    adopted[count] = library;
    openblas->set(sections[count++]);
}
