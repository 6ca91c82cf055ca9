/* A program whose first thread is bound before main: its processors are those that the process was
 * started with. The program runs itself with each setting.
 *
 * test: flags -Lbuild/lib
 * test: not clang-stock libomp binds at the first region
 */
#define _GNU_SOURCE
#include "testing.h"

#include <omp.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void kmp_set_thread_affinity_mask_initial(void);

static cpu_set_t mine(void) {
    cpu_set_t set;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    return set;
}

/* The child: its argument has a 1 for each processor of the process, and a 0 for each other. */
static void expect(const char *processors) {
    int most = (int)strlen(processors);
    cpu_set_t set = mine();
    void *mask = NULL;
    CHECK_EQ(CPU_COUNT(&set), 1);
    CHECK_EQ(kmp_get_affinity_max_proc(), most);
    kmp_create_affinity_mask(&mask);
    for (int i = 0; i < most; i++)
        CHECK_EQ(kmp_set_affinity_mask_proc(i, &mask), processors[i] == '1' ? 0 : -2);
    kmp_destroy_affinity_mask(&mask);
    kmp_set_thread_affinity_mask_initial();
    set = mine();
    for (int i = 0; i < most; i++) CHECK_EQ(!!CPU_ISSET(i, &set), processors[i] == '1');
}

static void run_with(const char *variable, const char *value, char *processors) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        char *arguments[] = {"bound_at_start", processors, NULL};
        setenv(variable, value, 1);
        execv("/proc/self/exe", arguments);
        _exit(127);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int count, char **arguments) {
    char processors[CPU_SETSIZE + 1] = "";
    cpu_set_t set = mine();
    if (count > 1) {
        expect(arguments[1]);
        return 0;
    }
    if (CPU_COUNT(&set) < 2) return TEST_SKIPPED;
    for (int i = 0, left = CPU_COUNT(&set); left > 0; i++) {
        processors[i] = CPU_ISSET(i, &set) ? '1' : '0';
        left -= processors[i] == '1';
    }
    run_with("OMP_PROC_BIND", "true", processors);
    run_with("OMP_PLACES", "threads", processors);
    return 0;
}
