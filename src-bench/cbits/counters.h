/* counters.h: the counts of the kernel, glibc and the processor for this process so far.
 *
 * All calls work without privileges. A figure that a machine does not have is NaN, never zero. The
 * calls are made before and after a sample, outside its clocks. Any thread may make them, but no
 * signal handler.
 */
#ifndef CAPSTAN_BENCH_COUNTERS_H
#define CAPSTAN_BENCH_COUNTERS_H

/* The order is that of Capstan.Bench.Counters.Reading. */
struct reading {
    double minor_faults; /* pages given without reading a file */
    double major_faults; /* pages read from a file */
    double voluntary;    /* context switches, because a thread waited */
    double involuntary;  /* context switches, because others wanted the core */
    double core_wait;    /* nanoseconds that threads were ready and had no core */
    double malloc_bytes; /* bytes that malloc has allocated and that were not freed */
    double cycles;       /* of this thread and its later children, in user mode */
    double instructions;
    double spin; /* nanoseconds of a fixed chain of additions: the frequency's inverse */
};

/* Opens the processor's counters, if there are any. To be called once, before the first reading. */
void cst_bench_open(void);

void cst_bench_read(struct reading *now);

/* The cost of the machine's primitive operations. The order is that of
 * Capstan.Bench.Counters.Costs. */
struct costs {
    double fault;      /* nanoseconds to touch a page for the first time */
    double mapping;    /* nanoseconds of an mmap with its munmap, nothing touched */
    double resolution; /* nanoseconds between two readings of the clock that differ */
};

void cst_bench_costs(struct costs *costs);

/* The number of processors that this process may use. */
int cst_bench_processors(void);

/* The number of threads of this process. Asks for no memory. */
int cst_bench_threads(void);

/* The working directory in which this process began, or NULL. */
const char *cst_bench_folder(void);

/* Makes GHC's runtime system count collections from now on, as +RTS -T does. */
void cst_bench_collect_statistics(void);

#endif
