/* watch.h: counts the calls by which malloc and others ask the kernel for memory, and threads that
 * are made.
 *
 * glibc calls mmap and brk by hidden names, so interposition does not see them, and tracing needs
 * privileges. A seccomp filter with a listener (Linux 5.7, seccomp_unotify(2)) needs none: the
 * kernel stops a thread at such a call, tells our listening thread, and lets the call go on
 * unchanged. That takes microseconds, so nothing is timed in a process that is watched, and it
 * cannot be undone.
 */
#ifndef CAPSTAN_BENCH_WATCH_H
#define CAPSTAN_BENCH_WATCH_H

/* The order is that of Capstan.Bench.Counters.Calls. */
struct calls {
    double maps;        /* mmap of memory without a file, but for GHC's own heap; mremap */
    double map_bytes;   /* their sizes, without what is only reserved */
    double unmaps;      /* munmap */
    double unmap_bytes; /* their sizes */
    double grows;       /* brk to a higher address; mprotect, by which other threads' heaps grow */
    double trims;       /* brk to a lower one: the heap's end given back */
    double discards;    /* madvise that gives pages back */
    double heap_maps;   /* GHC's own heap: mmap at a fixed address, of whole megabytes */
};

/* Watches all threads of the process from here on. Once. Returns 0, or errno where the system does
 * not let us. */
int cst_bench_watch(void);

/* The calls since cst_bench_watch. */
void cst_bench_calls(struct calls *calls);

/* How many threads there were at once since then, of those that were made. Whoever waits for a core
 * and ends before the next reading of the counters is seen in no other way. */
int cst_bench_most_threads(void);

#endif
