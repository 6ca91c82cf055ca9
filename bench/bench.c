/* bench.c: arguments, samples and output of the benchmark programs; see bench.h. */
#include "bench.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int allowed_cpus(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return CPU_COUNT(&set);
}

static void usage(const char *program) {
    fprintf(
        stderr,
        "usage: %s [-t THREADS] [-r SAMPLES] [-u MICROSECONDS] [-b] [-l] [CASE...]\n"
        "  -t  size of the team (default: all CPUs)   -r  samples of each case (default 11)\n"
        "  -u  least length of a sample (default 2000) -b  print the best sample, not the median\n"
        "  -l  list the cases                          CASE  a name, or a group: for-\n",
        program);
    exit(2);
}

struct bench bench_arguments(int argc, char **argv) {
    struct bench b = {.samples = 11, .sample_ns = 2e6};
    b.cpus = allowed_cpus();
    b.threads = b.cpus;
    int c;
    while ((c = getopt(argc, argv, "+t:r:u:bl")) != -1) {
        switch (c) {
        case 't':
            b.threads = atoi(optarg);
            break;
        case 'r':
            b.samples = atoi(optarg);
            break;
        case 'u':
            b.sample_ns = atof(optarg) * 1e3;
            break;
        case 'b':
            b.best = true;
            break;
        case 'l':
            b.list = true;
            break;
        default:
            usage(argv[0]);
        }
    }
    if (b.threads < 1 || b.samples < 1 || b.sample_ns <= 0) usage(argv[0]);
    b.words = argc - optind;
    b.word = argv + optind;
    return b;
}

bool bench_wanted(const struct bench *b, const char *name) {
    bool wanted = b->words == 0;
    for (int i = 0; i < b->words && !wanted; i++) {
        size_t length = strlen(b->word[i]);
        bool group = length > 0 && b->word[i][length - 1] == '-';
        wanted = group ? strncmp(name, b->word[i], length) == 0 : strcmp(name, b->word[i]) == 0;
    }
    if (wanted && b->list) {
        puts(name);
        return false;
    }
    return wanted;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *value, int count) {
    qsort(value, (size_t)count, sizeof *value, by_size);
    return count % 2 ? value[count / 2] : (value[count / 2 - 1] + value[count / 2]) / 2;
}

void bench_print(const char *name, const char *unit, double value) {
    printf("%s\t%s\t%.6g\n", name, unit, value);
    fflush(stdout);
}

void bench_equal(const char *name, long long found, long long wanted) {
    if (found == wanted) return;
    fprintf(stderr, "%s: wrong result: %lld instead of %lld\n", name, found, wanted);
    exit(1);
}

static double time_of(const struct bench *b, bench_body *body, long n) {
    double start = bench_now();
    body(b, n);
    return bench_now() - start;
}

/* Returns the shorter of two times if the first is long, as a stall makes one sample long, not
 * all. */
static double usual_time_of(const struct bench *b, bench_body *body, long n) {
    double first = time_of(b, body, n);
    if (first < b->sample_ns) return first;
    double second = time_of(b, body, n);
    return first < second ? first : second;
}

/* Raises n until a sample is long enough, at most tenfold at a time, since the first calls also
 * create threads. A body whose time does not grow with n was optimized away. */
static long calibrate(const struct bench *b, bench_body *body) {
    time_of(b, body, 1);
    for (long n = 1;;) {
        double ns = usual_time_of(b, body, n);
        if (ns >= b->sample_ns) return n;
        if (n > LONG_MAX / 16) bench_equal("calibration", (long long)ns, (long long)b->sample_ns);
        double factor = ns > 0 ? 1.2 * b->sample_ns / ns : 10;
        if (factor > 10) factor = 10;
        if (factor < 1.1) factor = 1.1;
        n = (long)((double)n * factor) + 1;
    }
}

static double chosen(const struct bench *b, double *value) {
    double median = bench_median(value, b->samples); /* bench_median sorts the values */
    return b->best ? value[0] : median;
}

void bench_case(const struct bench *b, const char *name, bench_body *body, double operations) {
    if (!bench_wanted(b, name)) return;
    long n = calibrate(b, body);
    double *value = malloc((size_t)b->samples * sizeof *value);
    for (int i = 0; i < b->samples; i++) value[i] = time_of(b, body, n) / ((double)n * operations);
    bench_print(name, "ns", chosen(b, value));
    free(value);
}

void bench_amortize(struct bench *b, bench_body *region) {
    enum { TIMES = 11 };
    double value[TIMES];
    if (b->list) return;
    time_of(b, region, 1);
    for (int i = 0; i < TIMES; i++) value[i] = time_of(b, region, 1);
    double wanted = 50 * bench_median(value, TIMES);
    if (wanted > 20e6) wanted = 20e6;
    if (wanted > b->sample_ns) b->sample_ns = wanted;
}

void bench_once(const struct bench *b, const char *name, bench_body *body) {
    if (!bench_wanted(b, name)) return;
    double *value = malloc((size_t)b->samples * sizeof *value);
    double first = time_of(b, body, 1);
    /* A warm-up matters only if a sample is short. */
    int done = first > 2e8;
    value[0] = first / 1e6;
    for (int i = done; i < b->samples; i++) value[i] = time_of(b, body, 1) / 1e6;
    bench_print(name, "ms", chosen(b, value));
    free(value);
}

static void pin_to(int nth) {
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && nth-- == 0) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

pid_t bench_start_load(int nth) {
    pid_t parent = getpid(), child = fork();
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    if (nth != BENCH_ANYWHERE) pin_to(nth);
    for (;;) bench_work(1000000);
}

void bench_stop_load(pid_t child) {
    if (child <= 0) return;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}
