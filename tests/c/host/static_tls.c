/* The library can be opened when the process has hardly any room left for static thread-local
 * storage. GCC's library takes 136 bytes, and large Python programs fail to open it late; Capstan
 * takes 8.
 * test: plain
 * test: not stock libgomp needs static thread-local storage
 * test: flags -ldl -lpthread
 * test: shared parts/tls_part.c
 */
#include "process.h"
#include <dlfcn.h>
#include <sys/stat.h>

static char folder[600];

static void copy(const char *from, const char *to) {
    char buffer[65536];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    CHECK(in && out);
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, in)) > 0;)
        CHECK(fwrite(buffer, 1, got, out) == got);
    fclose(in);
    fclose(out);
}

/* Opens copies of a library with an initial-exec variable of 64 bytes until the loader refuses, and
 * closes the last copy. The rest is then 64 bytes or more, but less than 128. */
static int exhaust(void) {
    char part[700], temporary[] = "/tmp/static-tls-XXXXXX", path[100];
    snprintf(part, sizeof part, "%s/tls_part.so", folder);
    CHECK(mkdtemp(temporary) != NULL);
    int opened = 0, refused = 0;
    void *last = NULL;
    while (!refused && opened < 2000) {
        snprintf(path, sizeof path, "%s/%d.so", temporary, opened);
        copy(part, path);
        void *next = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        unlink(path);
        refused = next == NULL;
        opened += !refused;
        if (next) last = next;
    }
    rmdir(temporary);
    if (refused) {
        CHECK(strstr(dlerror(), "static TLS") != NULL);
        CHECK(last && dlclose(last) == 0);
    }
    return refused;
}

static int (*thread_num)(void);

static void member(void *argument) {
    int *seen = argument;
    INCREMENT(&seen[thread_num()]);
}

int main(void) {
    test_limit(50);
    const char *library = getenv("TEST_LIBRARY");
    CHECK(library != NULL);
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    CHECK(length > 0);
    *strrchr(folder, '/') = 0;
    if (!exhaust()) test_skip("this loader has room without end");
    void *handle = dlopen(library, RTLD_NOW);
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != NULL);
    typedef void parallel(void (*)(void *), void *, unsigned, unsigned);
    parallel *run = (parallel *)dlsym(handle, "GOMP_parallel");
    thread_num = (int (*)(void))dlsym(handle, "omp_get_thread_num");
    CHECK(run && thread_num);
    int seen[4] = {0};
    run(member, seen, 4, 0);
    for (int i = 0; i < 4; i++) CHECK_EQ(seen[i], 1);
    return 0;
}
