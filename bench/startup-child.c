/* startup-child.c: the tiny program that startup.c starts.
 *
 * - link: makes one query to its runtime.
 * - region: opens one region.
 * - idle: opens a region and then does nothing. It prints the CPU time of its waiting team in the
 *   first 200 ms, and the share of a core in the half second after that.
 * - early: prints the microseconds of its first ten regions, in which every member computes for
 *   half a millisecond.
 *
 * With a third argument, memory, the program prints the KiB that are resident at the end of link or
 * region.
 */
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double cpu_us(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void rest(long ms) {
    struct timespec time = {0, ms * 1000000};
    nanosleep(&time, NULL);
}

static void idle(void) {
    double before = cpu_us();
    rest(200);
    double settled = cpu_us();
    rest(500);
    double after = cpu_us();
    printf("after-region-cpu\tus\t%.6g\n", settled - before);
    printf("idle-cpu\t%%\t%.6g\n", (after - settled) / 500e3 * 100);
}

/* Reads the resident memory from the page tables. ru_maxrss and VmRSS are sums of counters. Each
 * CPU collects up to 64 pages before it adds them, so the sums are wrong by up to 64 pages for each
 * CPU. The program uses no stdio before the reading. */
static int print_resident(void) {
    char text[2048];
    int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (length < 0) return 1;
    text[length] = '\0';
    const char *resident = strstr(text, "\nRss:");
    if (!resident) return 1;
    printf("%ld\n", strtol(resident + strlen("\nRss:"), NULL, 10));
    return 0;
}

static int region(int threads) {
    int members = 0;
    omp_set_dynamic(0);
#pragma omp parallel num_threads(threads) reduction(+ : members)
    members += 1;
    return members != threads;
}

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* Computes in registers: a counter in memory takes one nanosecond or three, depending on its
 * place. */
static void compute(long steps) {
    double x = 1;
    for (long i = 0; i < steps; i++) x = x * 1.0000001 + 1e-9;
    __asm__ volatile("" : : "x"(x));
}

static void early(int threads) {
    enum { TRIAL = 100000, TRIALS = 5, REGIONS = 10, LENGTH_US = 500 };
    double least = 1e9;
    for (int i = 0; i < TRIALS; i++) {
        double begin = now_us();
        compute(TRIAL);
        double took = now_us() - begin;
        if (took < least) least = took;
    }
    long steps = (long)(TRIAL * LENGTH_US / least);
    omp_set_dynamic(0);
    double begin = now_us();
    for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel num_threads(threads)
        compute(steps);
    }
    printf("%.6g\n", now_us() - begin);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    if (strcmp(argv[1], "early") == 0) {
        early(atoi(argv[2]));
        return 0;
    }
    int failed = strcmp(argv[1], "link") == 0 ? omp_get_max_threads() < 1 : region(atoi(argv[2]));
    if (strcmp(argv[1], "idle") == 0) idle();
    if (argc > 3 && strcmp(argv[3], "memory") == 0) failed |= print_resident();
    return failed;
}
