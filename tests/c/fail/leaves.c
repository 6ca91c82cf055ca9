/* GHC's runtime system could not start, as memory or a thread was missing. Then no part of it keeps
 * the process alive: the process ends when its last thread, the main thread, calls pthread_exit.
 *
 * test: timeout 120
 * test: not pthread the substrate starts no runtime system of GHC's
 * test: not stock libgomp starts no runtime system of GHC's
 * test: flags -ldl
 * test: shared parts/failing.c -ldl */
#include "host/process.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>

static _Noreturn void leave(void) {
    void (*ends)(void);
    int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
    members++;
    *(void **)&ends = dlsym(RTLD_DEFAULT, "failing_ends");
    if (!ends || members < 1) _exit(2);
    ends();
    pthread_exit(NULL);
}

int main(int count, char **arguments) {
    char file[PATH_MAX], preload[PATH_MAX + 32], failing[64];
    int failed = 0;
    if (count > 1) leave();
    (void)arguments;
    test_limit(115);
    ssize_t length = readlink("/proc/self/exe", file, sizeof file - 1);
    CHECK(length > 0);
    file[length] = '\0';
    *strrchr(file, '/') = '\0';
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s/failing.so", file);
    for (int n = 1; n < 300; n += 4) {
        snprintf(failing, sizeof failing, "FAILING=%s once %d", n % 8 == 1 ? "memory" : "system",
                 n);
        struct child child = run_child(
            "leave", &(struct child_options){.environment = {preload, failing}, .seconds = 10});
        bool told = strstr(child.output, "libgomp: ") || strstr(child.output, "capstan: ");
        failed += strstr(child.output, "CAPSTAN_SUBSTRATE=rts is not available") != NULL;
        if (WIFEXITED(child.status) &&
            (WEXITSTATUS(child.status) == 0 || (WEXITSTATUS(child.status) == 1 && told)))
            continue;
        fprintf(stderr, "%s: status 0x%x, output: %s\n", failing, (unsigned)child.status,
                child.output);
        CHECK(!"the process ends well");
    }
    CHECK(failed > 5);
    return 0;
}
