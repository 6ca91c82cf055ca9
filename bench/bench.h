/* bench.h: shared by every benchmark program here: arguments, samples, a clock and the output.
 *
 * A program measures its cases one after another. A case is a function that repeats an operation n
 * times. The program first finds an n for which one sample is long enough for the clock. Then it
 * takes the samples, and prints the median as "case<TAB>unit<TAB>value". Programs know nothing of
 * runtimes: the dynamic linker chooses the runtime that is measured. A case with a wrong result
 * ends the program with exit code 1 and no figure.
 */
#ifndef CAPSTAN_BENCH_H
#define CAPSTAN_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_LINE 128 /* no two hot words share this many bytes (adjacent-line prefetch) */

struct bench {
    int threads;      /* -t: size of the team; default: the CPUs this process may use */
    int cpus;         /* CPUs this process may use */
    int samples;      /* -r: samples of a case */
    double sample_ns; /* -u: least length of a sample; microseconds on the command line */
    bool best;        /* -b: print the shortest sample instead of the median */
    bool list;        /* -l: print the names of the cases, measure nothing */
    int words;        /* the words after the options: cases to keep, or a command */
    char **word;
};

/* Does the measured operation n times, with a team of b->threads. */
typedef void bench_body(const struct bench *b, long n);

/* Reads the arguments; ends the program with a usage line when it does not understand them. */
struct bench bench_arguments(int argc, char **argv);

/* Returns whether a case is wanted: no names mean all cases, and "for-" means all cases that begin
 * so. */
bool bench_wanted(const struct bench *b, const char *name);

/* Samples body, prints the ns per operation. A call of body with n does n * operations of them. */
void bench_case(const struct bench *b, const char *name, bench_body *body, double operations);

/* For cases that repeat an operation inside one region: makes a sample at least fifty times as long
 * as the time to open a region, but at most 20 ms. So the region itself does not count. */
void bench_amortize(struct bench *b, bench_body *region);

/* Calls body(b, 1) once per sample and prints the median in milliseconds. */
void bench_once(const struct bench *b, const char *name, bench_body *body);

void bench_print(const char *name, const char *unit, double value);
double bench_median(double *value, int count);
double bench_now(void);

/* Ends the program if a result is wrong. */
void bench_equal(const char *name, long long found, long long wanted);

/* Starts a process that computes until it is stopped or its parent ends. It runs on the nth CPU of
 * this process, counted from 0, or with BENCH_ANYWHERE where the kernel puts it. */
enum { BENCH_ANYWHERE = -1 };
pid_t bench_start_load(int nth);
void bench_stop_load(pid_t load);

/* Does work that no compiler removes: about one nanosecond for each turn. */
static inline void bench_work(long turns) {
    for (long i = 0; i < turns; i++) __asm__ volatile("" : : "r"(i) : "memory");
}

static inline void bench_keep(void) {
    __asm__ volatile("" : : : "memory");
}

/* A 64-bit mixing step (Steele, Lea and Flood's SplitMix), for random numbers that are the same
 * in every run and on every runtime. */
static inline uint64_t bench_mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

#endif
