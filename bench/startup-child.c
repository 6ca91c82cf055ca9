/* startup-child.c: the tiny program that startup.c starts.
 *
 * link: linked to a runtime, asks it one question. region: opens one region. idle: opens a region,
 * then does nothing and prints the CPU time that its waiting team uses: in the first 200 ms, and
 * the share of a core in the half second after that.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

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

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int threads = atoi(argv[2]), members = 0;
    if (strcmp(argv[1], "link") == 0) return omp_get_max_threads() < 1;
    omp_set_dynamic(0);
#pragma omp parallel num_threads(threads) reduction(+ : members)
    members += 1;
    if (strcmp(argv[1], "idle") == 0) idle();
    return members != threads;
}
