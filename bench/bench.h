/* bench.h: what every benchmark program here shares: arguments, samples, a clock and its output.
 *
 * A program measures its cases one after another. A case is a function that does something n times;
 * n is found so that one sample is long enough for the clock, then the case is sampled and the
 * median sample is printed as "case<TAB>unit<TAB>value". Programs know nothing of runtimes: the one
 * that the dynamic linker finds is the one that is measured. A case whose result is wrong ends the
 * program with exit code 1 and no figure.
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
    int words;        /* what follows the options: cases to keep, or a command */
    char **word;
};

/* Does the thing that is measured n times, with a team of b->threads. */
typedef void bench_body(const struct bench *b, long n);

/* Reads the arguments; ends the program with a usage line when it does not understand them. */
struct bench bench_arguments(int argc, char **argv);

/* Says whether a case was asked for: no names mean all, "for-" means all that begin so. */
bool bench_wanted(const struct bench *b, const char *name);

/* Samples body, each call of which with n does n * operations things; prints ns per thing. */
void bench_case(const struct bench *b, const char *name, bench_body *body, double operations);

/* For cases that repeat something inside one region: makes samples at least fifty times as long as
 * opening a region takes (but not longer than 20 ms), so that the region itself does not count. */
void bench_amortize(struct bench *b, bench_body *region);

/* Calls body(b, 1) once per sample and prints the median in milliseconds. */
void bench_once(const struct bench *b, const char *name, bench_body *body);

void bench_print(const char *name, const char *unit, double value);
double bench_median(double *value, int count);
double bench_now(void);

/* Ends the program when a result is not what it must be. */
void bench_equal(const char *name, long long found, long long wanted);

/* A process that computes until it is stopped or its parent ends: on the nth of this process's
 * CPUs, from 0, or with BENCH_ANYWHERE where the kernel puts it. */
enum { BENCH_ANYWHERE = -1 };
pid_t bench_start_load(int nth);
void bench_stop_load(pid_t load);

/* Work that no compiler removes: about one nanosecond for each turn. */
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
