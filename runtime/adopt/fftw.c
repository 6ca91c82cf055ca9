/* FFTW's threads: its loops are regions of the pool.
 *
 * Since 3.3.9 a program may give FFTW a function that runs a loop: work(data + i * size) for all i
 * below `jobs`, complete when the function returns. Jobs do not wait for each other: a plan is
 * applied to parts of an array that do not overlap (threads/threads.c of 3.3.10). So any number of
 * threads is right, and a loop within a region has one thread. The function may be set at any time,
 * since FFTW reads it as each loop begins. */
#include "adopt/foreign.h"
#include "core/front.h"

typedef void *fftw_work(char *data);
typedef void fftw_loop(fftw_work *work, char *data, size_t size, int jobs, void *library);

struct loop {
    fftw_work *work;
    char *data;
    size_t size;
    uint32_t jobs;
    _Atomic uint32_t next;
};

static void member(void *argument) {
    struct loop *loop = argument;
    uint32_t job;
    while ((job = cst_add_relaxed(&loop->next, 1)) < loop->jobs)
        loop->work(loop->data + job * loop->size);
}

static void run_loop(fftw_work *work, char *data, size_t size, int jobs, void *library) {
    CST_KEEP_FRAME();
    if (jobs < 1) return;
    struct loop loop = {.work = work, .data = data, .size = size, .jobs = (uint32_t)jobs};
    struct cst_region region = {
        .front = CST_FRONT_ADOPT, .function = member, .data = &loop, .threads = loop.jobs};
    cst_foreign_count(library, loop.jobs);
    cst_region_run(cst_self(), &region);
}

/* One name for each type of numbers: double, float, long double, and 128 bits. */
static const char *const names[] = {"fftw_threads_set_callback", "fftwf_threads_set_callback",
                                    "fftwl_threads_set_callback", "fftwq_threads_set_callback",
                                    NULL};
static const char *const older[] = {"fftw_init_threads", "fftwf_init_threads", "fftwl_init_threads",
                                    "fftwq_init_threads", NULL};

static void *find(const struct cst_elf *elf, const char *const *list) {
    void *found = NULL;
    for (size_t i = 0; list[i] && !found; i++) found = cst_elf_find(elf, list[i]);
    return found;
}

bool cst_fftw_is(const struct cst_elf *elf) {
    return find(elf, older) != NULL;
}

void cst_fftw_adopt(struct cst_foreign *library, const struct cst_elf *elf) {
    void (*set)(fftw_loop * loop, void *library);
    *(void **)&set = find(elf, names);
    const char *why = NULL;
    if (cst_foreign_needs_openmp(elf))
        why = cst_foreign_openmp;
    else if (!set)
        why = "it is older than 3.3.9, and has no call to use other threads";
    cst_store_relaxed(&library->why, why);
    if (!why) set(run_loop, library);
}
