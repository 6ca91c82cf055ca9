/* The library needs neither /proc nor readlink. If they are missing or refused it works as usual,
 * also from a path relative to the working folder, and writes nothing.
 *
 * test: not check the test is about the shared library
 * test: not thread the test is about the shared library
 * test: not address the test is about the shared library
 * test: not undefined the test is about the shared library
 */
#include "process.h"
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <omp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static char self[PATH_MAX];

static void start_again(void) {
    execl(self, "child", "region", (char *)NULL);
    _exit(126);
}

static void private_mounts(void) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        _exit(TEST_SKIPPED);
}

static void no_proc(void) {
    private_mounts();
    if (umount2("/proc", MNT_DETACH) != 0) _exit(TEST_SKIPPED);
    start_again();
}

static void empty_proc(void) {
    private_mounts();
    if (mount("none", "/proc", "tmpfs", 0, NULL) != 0) _exit(TEST_SKIPPED);
    start_again();
}

static void refuse_readlink(unsigned error) {
    const unsigned number = offsetof(struct seccomp_data, nr);
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
#ifdef SYS_readlink
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlink, 1, 0),
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlinkat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(TEST_SKIPPED);
    start_again();
}

static void readlink_forbidden(void) {
    refuse_readlink(EACCES);
}
static void readlink_unknown(void) {
    refuse_readlink(ENOSYS);
}

static void region(void) {
    int count = 0, sum = 0;
#pragma omp parallel num_threads(3)
    {
        INCREMENT(&count);
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 100; i++) INCREMENT(&sum);
    }
    CHECK_EQ(count, 3);
    CHECK_EQ(sum, 100);
}

static int expect(void (*prepare)(void), const char *path) {
    struct child child =
        run_child("region", &(struct child_options){.environment = {path}, .prepare = prepare});
    if (WIFEXITED(child.status) && WEXITSTATUS(child.status) == TEST_SKIPPED) return 0;
    EXPECT_EXIT(child, 0);
    if (child.output[0]) fprintf(stderr, "it says: %s\n", child.output);
    CHECK(!child.output[0]);
    return 1;
}

int main(int count, char **arguments) {
    static void (*const lacks[])(void) = {no_proc, empty_proc, readlink_forbidden,
                                          readlink_unknown};
    if (count > 1) {
        region();
        return 0;
    }
    test_limit(58);
    CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    const char *library = getenv("TEST_LIBRARY");
    char folder[PATH_MAX];
    CHECK(library && strlen(library) < sizeof folder);
    strcpy(folder, library);
    *strrchr(folder, '/') = '\0';
    CHECK(chdir(folder) == 0);
    int done = 0;
    for (int i = 0; i < 4; i++)
        done += expect(lacks[i], "NOTHING") + expect(lacks[i], "LD_LIBRARY_PATH=.");
    if (done == 0) test_skip("neither mounts nor system calls can be taken away here");
    return 0;
}
