/* startup.c: what does a tiny program pay for its runtime, and an idle one?
 *
 * Starts startup-child, which lies beside this program, again and again. What follows the options
 * is put in front of it, such as "capstan run --". This program has no OpenMP runtime of its own.
 * Figures are microseconds from fork to the end, the memory that is resident at the end of main
 * (the child says so, in runs that are not timed), the time of a program's first regions, and what
 * a team that has nothing to do uses: CPU time in all after a region, and as a share once it has
 * gone to sleep.
 */
#include "bench.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kernel maps a file's pages in aligned groups of sixteen, so that where libc happens to lie
 * decides about 200 KiB of it: the median over so many random layouts of addresses. */
enum { LAYOUTS = 41 };

/* The child to run: the words given, then startup-child, a mode, a team size, and what it is asked.
 */
static char **command_line(const struct bench *b, char *mode, char *question) {
    static char child[PATH_MAX], threads[16];
    ssize_t length = readlink("/proc/self/exe", child, sizeof child - 32);
    if (length < 0) exit(1);
    strcpy(child + length, "-child");
    snprintf(threads, sizeof threads, "%d", b->threads);
    char **line = calloc((size_t)b->words + 5, sizeof *line);
    for (int i = 0; i < b->words; i++) line[i] = b->word[i];
    line[b->words] = child;
    line[b->words + 1] = mode;
    line[b->words + 2] = threads;
    line[b->words + 3] = question;
    return line;
}

/* Microseconds. What the child prints goes to output. */
static double run(char **line, int output) {
    int status;
    double start = bench_now();
    pid_t child = fork();
    if (child == 0) {
        dup2(output, STDOUT_FILENO);
        execvp(line[0], line);
        perror(line[0]);
        _exit(127);
    }
    if (waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "startup: %s failed (status %d)\n", line[0], status);
        exit(1);
    }
    return (bench_now() - start) / 1e3;
}

/* The one number that the child prints. */
static double answer(char **line) {
    char text[32] = "";
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) exit(1);
    run(line, ends[1]);
    if (read(ends[0], text, sizeof text - 1) <= 0) exit(1);
    close(ends[0]), close(ends[1]);
    return atof(text);
}

static void measure(const struct bench *b, char *mode) {
    char name[64];
    char **line = command_line(b, mode, NULL), **asking = command_line(b, mode, "memory");
    double *us = malloc((size_t)b->samples * sizeof(double));
    double kib[LAYOUTS];
    run(line, STDOUT_FILENO);
    for (int i = 0; i < b->samples; i++) us[i] = run(line, STDOUT_FILENO);
    for (int i = 0; i < LAYOUTS; i++) kib[i] = answer(asking);
    snprintf(name, sizeof name, "%s-time", mode);
    bench_print(name, "us", bench_median(us, b->samples));
    snprintf(name, sizeof name, "%s-memory", mode);
    bench_print(name, "KiB", bench_median(kib, LAYOUTS));
    free(us), free(line), free(asking);
}

/* As often as the layouts: where the kernel places a new team is chance. */
static void early(const struct bench *b) {
    char **line = command_line(b, "early", NULL);
    double us[LAYOUTS];
    for (int i = 0; i < LAYOUTS; i++) us[i] = answer(line);
    bench_print("first-regions", "us", bench_median(us, LAYOUTS));
    free(line);
}

/* The child measures itself and prints its lines. */
static void idle(const struct bench *b) {
    char **line = command_line(b, "idle", NULL);
    fflush(stdout);
    run(line, STDOUT_FILENO);
    free(line);
}

int main(int argc, char **argv) {
    struct bench arguments = bench_arguments(argc, argv), *b = &arguments;
    if (b->list) {
        puts("link-time\nlink-memory\nregion-time\nregion-memory\nfirst-regions\nafter-region-"
             "cpu\nidle-cpu");
        return 0;
    }
    measure(b, "link");
    measure(b, "region");
    early(b);
    idle(b);
    return 0;
}
