/* Helpers for programs with GHC's runtime system as a guest: they load the substrate like
 * libgomp.so.1, and read the kernel's files about this process. */
#ifndef GUEST_H
#define GUEST_H

#include "substrate/substrate.h"
#include "testing.h"

#include <dirent.h>
#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>

__attribute__((unused)) static const struct cst_substrate *guest_load(void) {
    char path[4096];
    const char *library = getenv("TEST_LIBRARY");
    CHECK(library && strrchr(library, '/'));
    snprintf(path, sizeof path, "%.*s/libcapstan-rts.so", (int)(strrchr(library, '/') - library),
             library);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    CHECK(handle);
    const struct cst_substrate *(*entry)(size_t);
    *(void **)&entry = dlsym(handle, "cst_rts_entry");
    CHECK(entry && !entry(1));
    return entry(sizeof(struct cst_substrate));
}

/* Loads and starts the substrate. */
__attribute__((unused)) static const struct cst_substrate *guest_start(unsigned capabilities) {
    const struct cst_substrate *rts = guest_load();
    const char *reason = "";
    if (rts->start(capabilities, NULL, &reason) != 0) fprintf(stderr, "%s\n", reason);
    CHECK_EQ(*reason, 0);
    return rts;
}

/* Returns a field of /proc/self/status, such as "VmSize", in its unit (KiB for sizes). */
__attribute__((unused)) static long status_of(const char *field) {
    char line[256];
    long value = -1;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file);
    while (value < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0 && line[strlen(field)] == ':')
            value = atol(line + strlen(field) + 1);
    fclose(file);
    return value;
}

/* Waits until the process has `expected` threads, as a thread that ends counts a little longer. */
__attribute__((unused)) static void expect_threads(long expected) {
    for (int i = 0; i < 500 && status_of("Threads") != expected; i++) pause_ms(10);
    CHECK_EQ(status_of("Threads"), expected);
}

/* Returns the exit status of a child that runs function(argument), or -1 if a signal ended it. */
__attribute__((unused)) static int in_child(void (*function)(long), long argument) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        test_limit(20);
        function(argument);
        exit(0);
    }
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
