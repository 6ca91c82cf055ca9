/* A set-user-ID program ignores CAPSTAN_* variables: no report is written, no substrate loaded. The
 * copy of this program opens the library by its path, because for such a program the loader ignores
 * LD_LIBRARY_PATH too.
 * test: plain
 * test: not stock libgomp knows no such variables
 * test: flags -ldl -lpthread
 * test: not qemu the rts substrate does not exist for that processor
 */
#define _GNU_SOURCE
#include "process.h"
#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/stat.h>

enum { OTHER_USER = 54321, NOT_SECURE = 5 };

static int members;

static void member(void *unused) {
    (void)unused;
    INCREMENT(&members);
}

static int mapped(const char *name) {
    char line[600];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, name) != NULL;
    if (maps) fclose(maps);
    return found;
}

static int in_copy(const char *library) {
    int secure = getauxval(AT_SECURE) != 0;
    alarm(20);
    typedef void parallel(void (*)(void *), void *, unsigned, unsigned);
    void *handle = dlopen(library, RTLD_NOW);
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != NULL);
    int (*max_threads)(void) = (int (*)(void))dlsym(handle, "omp_get_max_threads");
    parallel *run = (parallel *)dlsym(handle, "GOMP_parallel");
    CHECK(run && max_threads);
    CHECK_EQ(max_threads(), 3); /* OMP_* variables count, as with GCC's runtime */
    run(member, NULL, 0, 0);
    CHECK_EQ(members, 3);
    CHECK_EQ(mapped("libcapstan-rts"), !secure);
    return secure ? 0 : NOT_SECURE;
}

static void copy_self(const char *to) {
    char buffer[65536];
    FILE *in = fopen("/proc/self/exe", "rb"), *out = fopen(to, "wb");
    CHECK(in && out);
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, in)) > 0;)
        CHECK(fwrite(buffer, 1, got, out) == got);
    fclose(in);
    CHECK(fclose(out) == 0);
}

/* Runs a copy whose report goes to a pipe; returns its exit status, and the report in `report`. */
static int run_copy(const char *path, char *report, size_t size) {
    int ends[2], status = 0;
    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        char setting[40];
        snprintf(setting, sizeof setting, "CAPSTAN_REPORT=fd:%d", ends[1]);
        close(ends[0]);
        putenv(setting);
        putenv("CAPSTAN_SUBSTRATE=rts");
        putenv("OMP_NUM_THREADS=3");
        execl(path, "copy", getenv("TEST_LIBRARY"), (char *)NULL);
        _exit(126);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], report, size - 1);
    report[got > 0 ? got : 0] = 0;
    close(ends[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

int main(int count, char **arguments) {
    if (count > 1) return in_copy(arguments[1]);
    test_limit(40);
    if (geteuid() != 0) test_skip("needs root, to give a file to another user");
    CHECK(getenv("TEST_LIBRARY") != NULL);
    char folder[] = "/tmp/set-user-id-XXXXXX", path[60], report[5000];
    CHECK(mkdtemp(folder) != NULL);
    CHECK(chmod(folder, 0755) == 0);
    snprintf(path, sizeof path, "%s/copy", folder);
    copy_self(path);
    /* The copy first runs as an ordinary program, in which the variables count. */
    CHECK(chmod(path, 0755) == 0);
    CHECK_EQ(run_copy(path, report, sizeof report), NOT_SECURE);
    CHECK(strstr(report, "\"substrate\":\"rts\"") != NULL);
    CHECK(chown(path, OTHER_USER, OTHER_USER) == 0);
    CHECK(chmod(path, 04755) == 0);
    int status = run_copy(path, report, sizeof report);
    unlink(path);
    rmdir(folder);
    if (status == NOT_SECURE) test_skip("/tmp does not honour set-user-ID");
    CHECK_EQ(status, 0);
    if (*report) fprintf(stderr, "reported: %s\n", report);
    CHECK(!*report);
    return 0;
}
