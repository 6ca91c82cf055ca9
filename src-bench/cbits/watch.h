/* watch.h: counts the calls by which malloc and other code ask the kernel for memory, and new
 * threads.
 *
 * glibc calls mmap and brk by hidden names, so interposition does not see them, and tracing needs
 * privileges. A seccomp filter with a listener (Linux 5.7, seccomp_unotify(2)) needs none. The
 * kernel stops a thread at such a call, notifies our listening thread, and then lets the call go on
 * unchanged. This takes microseconds and cannot be undone, so no time is measured in a watched
 * process.
 */
#ifndef CAPSTAN_BENCH_WATCH_H
#define CAPSTAN_BENCH_WATCH_H

/* The order is that of Capstan.Bench.Counters.Calls. */
struct calls {
    double maps;        /* mmap of memory without a file, except GHC's own heap; mremap */
    double map_bytes;   /* their sizes, without memory that is only reserved */
    double unmaps;      /* munmap */
    double unmap_bytes; /* their sizes */
    double grows;       /* brk to a higher address; mprotect, by which other threads' heaps grow */
    double trims;       /* brk to a lower address: the heap's end is given back */
    double discards;    /* madvise that gives pages back */
    double heap_maps;   /* GHC's own heap: mmap at a fixed address, of whole megabytes */
};

/* Watches all threads of the process from now on. To be called once. Returns 0, or errno if the
 * system does not allow it. */
int cst_bench_watch(void);

/* Writes the numbers of calls since cst_bench_watch. */
void cst_bench_calls(struct calls *calls);

/* The largest number of threads at a time that were made since then. No other count shows a thread
 * that waits for a core and ends before the next reading of the counters. */
int cst_bench_most_threads(void);

#endif
