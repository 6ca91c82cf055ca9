/* startup.c: the cost of a runtime for a tiny program, and for an idle program.
 *
 * Starts startup-child, which lies beside this program, again and again. The words after the
 * options, such as "capstan run --", come before the child's name. This program has no OpenMP
 * runtime of its own. Figures are the microseconds from fork to the end, the time of a program's
 * first regions, and the memory that is resident at the end of main. The child prints the memory,
 * in runs that are not timed. Two more figures are for a team without work: its total CPU time
 * after a region, and its share of a CPU when it sleeps.
 */
#include "bench.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The number of random address layouts of which the median is taken. The kernel maps a file's pages
 * in aligned groups of sixteen, so the place of libc decides about 200 KiB of the figure. */
enum { LAYOUTS = 41 };

/* The command line of the child: the given words, then startup-child, a mode, a team size, and the
 * question.
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

/* Returns the microseconds of a run; the child's output goes to `output`. */
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

/* Returns the number that the child prints. */
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

/* The case runs LAYOUTS times, as the kernel's placement of a new team is random. */
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
