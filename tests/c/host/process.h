/* Shared by the tests of a host's view: numbers from /proc, and a child that runs this program
 * again with other variables, limits or user. The test catches the child's output. */
#ifndef HOST_PROCESS_H
#define HOST_PROCESS_H

#include "testing.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* Returns a number from a file of "Name:  value" lines, such as VmRSS (in KiB) or Threads, or -1 if
 * it has none. */
__attribute__((unused)) static long proc_number(const char *file, const char *name) {
    char line[256];
    long value = -1;
    size_t length = strlen(name);
    FILE *stream = fopen(file, "r");
    if (!stream) return -1;
    while (fgets(line, sizeof line, stream))
        if (!strncmp(line, name, length) && line[length] == ':') value = atol(line + length + 1);
    fclose(stream);
    return value;
}

__attribute__((unused)) static long status_number(const char *name) {
    return proc_number("/proc/self/status", name);
}

__attribute__((unused)) static long thread_count(void) {
    return status_number("Threads");
}

/* Waits, for 5 s at most, until the number of threads has not changed for 50 ms. Threads that end
 * need a moment to disappear. */
__attribute__((unused)) static long settled_thread_count(void) {
    long before = thread_count();
    for (int quiet = 0, turns = 0; quiet < 5 && turns < 500; turns++) {
        pause_ms(10);
        long now = thread_count();
        quiet = now == before ? quiet + 1 : 0;
        before = now;
    }
    return before;
}

/* Returns the sum of `of` over all threads but the main thread. Its argument is the thread's folder
 * in /proc. */
__attribute__((unused)) static long sum_over_other_threads(long (*of)(const char *folder)) {
    long sum = 0;
    DIR *threads = opendir("/proc/self/task");
    CHECK(threads != NULL);
    for (struct dirent *entry; (entry = readdir(threads)) != NULL;) {
        char folder[300];
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == getpid()) continue;
        snprintf(folder, sizeof folder, "/proc/self/task/%s", entry->d_name);
        sum += of(folder);
    }
    closedir(threads);
    return sum;
}

struct child {
    int status;        /* as from waitpid */
    char output[8192]; /* from stdout and stderr, in the order of writing */
};

struct child_options {
    const char *environment[12]; /* NAME=VALUE, or NAME to unset it */
    void (*prepare)(void);       /* runs in the child before the program is started again */
    int seconds;                 /* time limit; 20 if 0 */
};

static void child_exec(const char *argument, const struct child_options *options) {
    for (int i = 0; options && options->environment[i]; i++) {
        const char *setting = options->environment[i];
        if (strchr(setting, '='))
            putenv((char *)(size_t)setting);
        else
            unsetenv(setting);
    }
    if (options && options->prepare) options->prepare();
    execl("/proc/self/exe", "child", argument, (char *)NULL);
    _exit(126);
}

/* Runs this program again with one argument. */
__attribute__((unused)) static struct child run_child(const char *argument,
                                                      const struct child_options *options) {
    struct child child = {0};
    int ends[2];
    size_t used = 0;
    int seconds = options && options->seconds ? options->seconds : 20;
    CHECK(pipe(ends) == 0);
    fflush(NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        child_exec(argument, options);
    }
    close(ends[1]);
    struct pollfd poller = {.fd = ends[0], .events = POLLIN};
    time_t limit = time(NULL) + seconds;
    for (;;) {
        if (poll(&poller, 1, 200) > 0) {
            ssize_t got = read(ends[0], child.output + used, sizeof child.output - 1 - used);
            if (got <= 0) break;
            used += (size_t)got;
        }
        if (time(NULL) > limit) {
            fprintf(stderr, "child \"%s\" hangs; so far it wrote: %s\n", argument, child.output);
            kill(pid, SIGKILL);
            waitpid(pid, &child.status, 0);
            CHECK(!"child ended in time");
        }
    }
    close(ends[0]);
    CHECK(waitpid(pid, &child.status, 0) == pid);
    return child;
}

/* Ends the test unless the child exited with status `code`. */
#define EXPECT_EXIT(child, code)                                                                   \
    do {                                                                                           \
        if (!WIFEXITED((child).status) || WEXITSTATUS((child).status) != (code)) {                 \
            fprintf(stderr, "child's status 0x%x, output: %s\n", (unsigned)(child).status,         \
                    (child).output);                                                               \
            CHECK(!"child exited with " #code);                                                    \
        }                                                                                          \
    } while (0)

/* Describes a process that does not end: its signals, and each of its threads. A thread has a
 * state, ticks in user and system mode, a processor, and a place in the kernel where it sleeps. */
__attribute__((unused)) static void describe_process(pid_t pid) {
    char command[512];
    snprintf(command, sizeof command,
             "exec >&2; cat /proc/loadavg; head -n 1 /proc/stat; cd /proc/%d || exit; "
             "grep -E '^(State|Threads|Sig|Shd)' status; "
             "for t in task/*; do cut -d ' ' -f 1,3,14,15,39 $t/stat; cat $t/wchan; echo; done",
             (int)pid);
    if (system(command) != 0) fputs("it cannot be described\n", stderr);
}

/* Waits for a forked child that must exit with 0, and kills it after `seconds`. */
__attribute__((unused)) static void expect_child_ends_well(pid_t pid, int seconds) {
    int status = 0;
    for (int turn = 0; turn < seconds * 200; turn++) {
        pid_t found = waitpid(pid, &status, WNOHANG);
        CHECK(found >= 0);
        if (found == pid) {
            if (status != 0) fprintf(stderr, "child's status is 0x%x\n", (unsigned)status);
            CHECK(status == 0);
            return;
        }
        pause_ms(5);
    }
    describe_process(pid);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    CHECK(!"child ended in time");
}

/* Returns whether CAPSTAN_SUBSTRATE of this run is rts. */
__attribute__((unused)) static int on_rts(void) {
    const char *substrate = getenv("CAPSTAN_SUBSTRATE");
    return substrate && !strcmp(substrate, "rts");
}

#endif
