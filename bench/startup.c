/* startup.c: what does a tiny program pay for its runtime, and an idle one?
 *
 * Starts startup-child, which lies beside this program, again and again. What follows the options
 * is put in front of it, such as "capstan run --". This program has no OpenMP runtime of its own.
 * Figures are microseconds from fork to the end, the largest resident memory, and what a team that
 * has nothing to do uses: CPU time in all after a region, and as a share once it has gone to sleep.
 */
#include "bench.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct outcome {
    double us;
    long kib;
};

/* The child to run: the words given, then startup-child, a mode and a team size. */
static char **command_line(const struct bench *b, char *mode) {
    static char child[PATH_MAX], threads[16];
    ssize_t length = readlink("/proc/self/exe", child, sizeof child - 32);
    if (length < 0) exit(1);
    strcpy(child + length, "-child");
    snprintf(threads, sizeof threads, "%d", b->threads);
    char **line = calloc((size_t)b->words + 4, sizeof *line);
    for (int i = 0; i < b->words; i++) line[i] = b->word[i];
    line[b->words] = child;
    line[b->words + 1] = mode;
    line[b->words + 2] = threads;
    return line;
}

static struct outcome run(char **line) {
    struct rusage used;
    int status;
    double start = bench_now();
    pid_t child = fork();
    if (child == 0) {
        execvp(line[0], line);
        perror(line[0]);
        _exit(127);
    }
    if (wait4(child, &status, 0, &used) != child || status != 0) {
        fprintf(stderr, "startup: %s failed (status %d)\n", line[0], status);
        exit(1);
    }
    return (struct outcome){(bench_now() - start) / 1e3, used.ru_maxrss};
}

static void measure(const struct bench *b, char *mode) {
    char name[64];
    char **line = command_line(b, mode);
    double *us = malloc((size_t)b->samples * sizeof(double));
    double *kib = malloc((size_t)b->samples * sizeof(double));
    run(line);
    for (int i = 0; i < b->samples; i++) {
        struct outcome o = run(line);
        us[i] = o.us;
        kib[i] = (double)o.kib;
    }
    snprintf(name, sizeof name, "%s-time", mode);
    bench_print(name, "us", bench_median(us, b->samples));
    snprintf(name, sizeof name, "%s-memory", mode);
    bench_print(name, "KiB", bench_median(kib, b->samples));
    free(us), free(kib), free(line);
}

/* The child measures itself and prints its lines. */
static void idle(const struct bench *b) {
    char **line = command_line(b, "idle");
    fflush(stdout);
    run(line);
    free(line);
}

int main(int argc, char **argv) {
    struct bench arguments = bench_arguments(argc, argv), *b = &arguments;
    if (b->list) {
        puts("link-time\nlink-memory\nregion-time\nregion-memory\nafter-region-cpu\nidle-cpu");
        return 0;
    }
    measure(b, "link");
    measure(b, "region");
    idle(b);
    return 0;
}
