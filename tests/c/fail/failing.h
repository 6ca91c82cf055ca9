/* Runs the programs again and again. Each time one call fails, or all calls from some call on. Each
 * run ends in time: with the right result, or with status 1 and a message of the runtime, never by
 * a signal. */
#ifndef FAIL_FAILING_H
#define FAIL_FAILING_H

#include "host/process.h"

#include "fail/programs.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/resource.h>

/* Runs the program that the child's argument names, such as "regions memory once 17". */
static int in_child(const char *argument) {
    long (*calls)(void);
    char name[16], text[64];
    RIGHT(sscanf(argument, "%15s", name) == 1);
    for (int i = 0; i < PROGRAMS; i++)
        if (strcmp(programs[i].name, name) == 0) programs[i].run();
    *(void **)&calls = dlsym(RTLD_DEFAULT, "failing_calls");
    RIGHT(calls != NULL);
    snprintf(text, sizeof text, "calls %ld\n", calls());
    say(text);
    return 0;
}

static void no_core(void) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

/* Returns the number of calls that the child made, or LONG_MAX if it ended with a message of the
 * runtime. */
static long run_one(const char *program, const char *failing, const char *preload) {
    char argument[80], setting[80];
    snprintf(argument, sizeof argument, "%s %s", program, failing);
    snprintf(setting, sizeof setting, "FAILING=%s", failing);
    struct child child = run_child(
        argument, &(struct child_options){.environment = {preload, setting}, .prepare = no_core});
    const char *calls = strstr(child.output, "calls ");
    bool exited = WIFEXITED(child.status);
    if (exited && WEXITSTATUS(child.status) == 0 && calls) return atol(calls + 6);
    bool told = strstr(child.output, "libgomp: ") || strstr(child.output, "capstan: ");
    if (exited && WEXITSTATUS(child.status) == 1 && told && !calls) return LONG_MAX;
    fprintf(stderr, "%s: status 0x%x, output: %s\n", argument, (unsigned)child.status,
            child.output);
    CHECK(!"the program is right, or says what it lacks");
    return 0;
}

/* Lets the n-th call fail, for n = 1, 1 + stride, and so on, while the program makes n calls. */
static void run_program(const char *program, const char *calls, long last, long stride) {
    static const char *const kinds[] = {"once", "from"};
    char file[PATH_MAX], preload[PATH_MAX + 32], failing[64];
    ssize_t length = readlink("/proc/self/exe", file, sizeof file - 1);
    CHECK(length > 0);
    file[length] = '\0';
    *strrchr(file, '/') = '\0';
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s/failing.so", file);
    for (int kind = 0; kind < 2; kind++)
        for (long n = 1, made = LONG_MAX; n <= last && made >= n - stride; n += stride) {
            snprintf(failing, sizeof failing, "%s %s %ld", calls, kinds[kind], n);
            made = run_one(program, failing, preload);
        }
}

static void run_all(long last, long memory_stride, long system_stride) {
    for (int i = 0; i < PROGRAMS; i++) {
        run_program(programs[i].name, "memory", last, memory_stride);
        run_program(programs[i].name, "system", last, system_stride);
    }
}

#endif
