/* counters.h: what the kernel, glibc and the processor counted for this process so far.
 *
 * Everything here works without privileges. What a machine does not give is NaN, never zero.
 * Called before and after a sample, outside its clocks. Any thread may call; not a signal handler.
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
    double malloc_bytes; /* bytes that malloc has given and not got back */
    double cycles;       /* of this thread and its later children, in user mode */
    double instructions;
    double spin; /* nanoseconds of a fixed chain of additions: the frequency's inverse */
};

/* Opens the processor's counters where there are any. Before the first reading, once. */
void cst_bench_open(void);

void cst_bench_read(struct reading *now);

/* What the machine's primitives cost. The order is that of Capstan.Bench.Counters.Costs. */
struct costs {
    double fault;      /* nanoseconds to touch a page for the first time */
    double mapping;    /* nanoseconds of an mmap with its munmap, nothing touched */
    double resolution; /* nanoseconds between two readings of the clock that differ */
};

void cst_bench_costs(struct costs *costs);

/* Processors that this process may use. */
int cst_bench_processors(void);

/* Threads of this process. Asks for no memory. */
int cst_bench_threads(void);

/* Where this process was when it began, or NULL. */
const char *cst_bench_folder(void);

/* Makes GHC's runtime system count collections from here on, as +RTS -T does. */
void cst_bench_collect_statistics(void);

#endif
