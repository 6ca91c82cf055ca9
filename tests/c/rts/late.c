/* A library with a region in its constructor is loaded late. That dlopen loads libgomp.so.1 and the
 * RTS, and boots the RTS. The workers must not need a lock that the loader holds.
 *
 * test: plain
 * test: flags -Iruntime -ldl -lpthread
 * test: shared parts/constructor.c -fopenmp */
#include "guest.h"

#include <libgen.h>

int main(int argc, char **argv) {
    (void)argc;
    test_limit(30);
    char path[4096];
    snprintf(path, sizeof path, "%s/constructor.so", dirname(argv[0]));
    void *part = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!part) fprintf(stderr, "%s\n", dlerror());
    CHECK(part);
    CHECK_EQ(*(int *)dlsym(part, "threads"), 4);
    CHECK(dlopen("libcapstan-rts.so", RTLD_NOLOAD | RTLD_NOW));
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(dlclose(part), 0);
        part = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        CHECK(part);
        CHECK_EQ(*(int *)dlsym(part, "threads"), 4);
    }
    return 0;
}
