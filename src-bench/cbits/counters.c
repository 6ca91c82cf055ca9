/* counters.c: readings of faults, switches, waiting, malloc and the processor. See counters.h. */
#include "counters.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <malloc.h>
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPIN_TURNS 4000
#define SPIN_REPEATS 5

static int cycle_counter = -1, instruction_counter = -1;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int open_counter(uint64_t what) {
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = what;
    attributes.inherit = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void cst_bench_open(void) {
    if (cycle_counter >= 0) return;
    cycle_counter = open_counter(PERF_COUNT_HW_CPU_CYCLES);
    instruction_counter = open_counter(PERF_COUNT_HW_INSTRUCTIONS);
}

static double read_counter(int counter) {
    uint64_t value;
    if (counter < 0 || read(counter, &value, sizeof value) != sizeof value) return NAN;
    return (double)value;
}

/* A thread's waiting time counts up to this multiple of its running time. GHC's own workers wake to
 * look for work. Beside threads that compute, they wait long in order to run for microseconds, and
 * delay no other thread. */
#define WAIT_PER_RUN 4

/* The second figure of each thread's schedstat. A thread that ends meanwhile is left out. */
static double core_wait(void) {
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) return NAN;
    double sum = 0;
    int read_any = 0;
    for (struct dirent *task; (task = readdir(tasks));) {
        char name[300];
        unsigned long long ran, waited;
        if (task->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "/proc/self/task/%s/schedstat", task->d_name);
        FILE *file = fopen(name, "re");
        if (!file) continue;
        if (fscanf(file, "%llu %llu", &ran, &waited) == 2) {
            unsigned long long most = WAIT_PER_RUN * ran;
            sum += (double)(waited < most ? waited : most);
            read_any = 1;
        }
        fclose(file);
    }
    closedir(tasks);
    return read_any ? sum : NAN;
}

static double malloc_bytes(void) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    struct mallinfo2 info = mallinfo2();
    return (double)info.uordblks + (double)info.hblkhd;
#else
    return NAN;
#endif
}

/* Additions that depend on each other take one cycle each on every processor we know. The best of
 * several is taken, because an interrupt only adds. */
static double spin(void) {
    double best = INFINITY;
    for (int repeat = 0; repeat < SPIN_REPEATS; repeat++) {
        double start = now();
        uintptr_t x = 1;
        for (int i = 0; i < SPIN_TURNS; i++) {
            x += 3;
            __asm__ __volatile__("" : "+r"(x));
        }
        double taken = now() - start;
        if (taken < best) best = taken;
    }
    return best;
}

void cst_bench_read(struct reading *r) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    *r = (struct reading){
        .minor_faults = (double)usage.ru_minflt,
        .major_faults = (double)usage.ru_majflt,
        .voluntary = (double)usage.ru_nvcsw,
        .involuntary = (double)usage.ru_nivcsw,
        .core_wait = core_wait(),
        .malloc_bytes = malloc_bytes(),
        .cycles = read_counter(cycle_counter),
        .instructions = read_counter(instruction_counter),
        .spin = spin(),
    };
}

#define COST_REPEATS 5

/* The kernel may give huge pages to a large mapping, but malloc's mappings have small pages. So
 * this mapping asks for small pages. */
static void time_pages(double *fault, double *mapping) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = 256;
    char *memory =
        mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    madvise(memory, pages * page, MADV_NOHUGEPAGE);
    double start = now();
    for (size_t i = 0; i < pages; i++) ((char volatile *)memory)[i * page] = 1;
    munmap(memory, pages * page); /* the return of pages is part of their cost */
    double each = (now() - start) / (double)pages;
    if (each < *fault) *fault = each;
    double empty = now();
    memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) munmap(memory, page);
    double pair = now() - empty;
    if (pair < *mapping) *mapping = pair;
}

void cst_bench_costs(struct costs *costs) {
    *costs = (struct costs){.fault = INFINITY, .mapping = INFINITY, .resolution = INFINITY};
    for (int repeat = 0; repeat < COST_REPEATS; repeat++) {
        time_pages(&costs->fault, &costs->mapping);
        double first = now(), next = first;
        while (next == first) next = now();
        if (next - first < costs->resolution) costs->resolution = next - first;
    }
}

int cst_bench_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return (int)sysconf(_SC_NPROCESSORS_ONLN);
    return CPU_COUNT(&set);
}

/* This does not use opendir, which asks for memory: the listener of watch.c must not ask for
 * any. */
int cst_bench_threads(void) {
    _Alignas(struct dirent64) char room[4096];
    int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC), count = 0;
    if (tasks < 0) return 0;
    for (ssize_t got; (got = getdents64(tasks, room, sizeof room)) > 0;)
        for (ssize_t at = 0; at < got;) {
            const struct dirent64 *task = (const struct dirent64 *)(room + at);
            count += task->d_name[0] != '.';
            at += task->d_reclen;
        }
    close(tasks);
    return count;
}

static char start_folder[4096];

/* Runs before main, which may change the working directory. */
__attribute__((constructor)) static void note_folder(void) {
    if (!getcwd(start_folder, sizeof start_folder)) start_folder[0] = 0;
}

const char *cst_bench_folder(void) {
    return start_folder[0] ? start_folder : NULL;
}
