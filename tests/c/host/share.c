/* Processes with the same CAPSTAN_SHARE. Two processes that open regions at once have half of the
 * processors each. If one is killed, the other has all processors again. A number that the user
 * requests stays. Files of another user, or that other users may open, are not used.
 *
 * test: flags -lpthread
 * test: not stock GCC's runtime knows no other process
 * test: alone
 */
#include "share_group.h"
#include <omp.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { SECONDS = 20 };

static int processors;

static int region_size(void) {
    int size = 0;
#pragma omp parallel
#pragma omp single
    size = omp_get_num_threads();
    return size;
}

/* Opens regions until one has this size, for some seconds at most. */
static int reaches(int size) {
    for (int i = 0; i < SECONDS * 1000; i++) {
        if (region_size() == size) return 1;
        if (i % 4 == 3) pause_ms(1);
    }
    return 0;
}

/* --- in the processes that share ------------------------------------------------------------- */

static void open_regions(void) {
    for (;;) region_size();
}

/* Starts another process, whose runtime has not started yet. */
static pid_t start_other(const char *threads) {
    pid_t child = fork();
    if (child != 0) return child;
    if (threads) setenv("OMP_NUM_THREADS", threads, 1);
    execl("/proc/self/exe", "share", "regions", (char *)NULL);
    _exit(1);
}

static void stop(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static int share_and_yield(void) {
    CHECK_EQ(region_size(), processors);
    pid_t other = start_other(NULL);
    int half = processors - processors / 2;
    CHECK(reaches(half) || reaches(processors / 2));
    kill(other, SIGKILL);
    CHECK(reaches(processors));
    waitpid(other, NULL, 0);
    return 0;
}

static int asked_by_number(void) {
    pid_t other = start_other(NULL);
    for (int i = 0; i < 300; i++) {
        CHECK_EQ(region_size(), processors);
        pause_ms(1);
    }
    stop(other);
    return 0;
}

static int is_alone(void) {
    for (int i = 0; i < 10; i++) CHECK_EQ(region_size(), processors);
    return 0;
}

/* --- the files ------------------------------------------------------------------------------- */

static void run(const char *what, const char *setting, const char *said) {
    char share[64], number[64];
    snprintf(share, sizeof share, "CAPSTAN_SHARE=%s", group);
    snprintf(number, sizeof number, "OMP_NUM_THREADS%s", setting);
    struct child child = run_child(
        what, &(struct child_options){.environment = {share, number}, .seconds = SECONDS});
    EXPECT_EXIT(child, 0);
    if (said && !strstr(child.output, said)) fprintf(stderr, "%s\n", child.output);
    CHECK(said ? strstr(child.output, said) != NULL : child.output[0] == '\0');
}

static void bad_files_are_refused(void) {
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK(fd >= 0);
    CHECK_EQ(fchmod(fd, 0666), 0);
    close(fd);
    run("alone", "", "other users may open it");
    remove_file();
    CHECK_EQ(symlink("/dev/null", path), 0);
    run("alone", "", "processors are not shared");
    remove_file();
    if (geteuid() != 0) return;
    fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    /* A user namespace may have no other user. */
    bool is_another_users = fchown(fd, 65534, 65534) == 0;
    close(fd);
    if (is_another_users) run("alone", "", "it belongs to another user");
    remove_file();
}

int main(int count, char **arguments) {
    test_limit(100);
    processors = omp_get_num_procs();
    const char *role = count > 1 ? arguments[count - 1] : "";
    if (strcmp(role, "regions") == 0) open_regions();
    if (strcmp(role, "share") == 0) return share_and_yield();
    if (strcmp(role, "number") == 0) return asked_by_number();
    if (strcmp(role, "alone") == 0) return is_alone();
    if (processors == 1) test_skip("there is one processor");
    name_group();
    char number[20];
    snprintf(number, sizeof number, "=%d", processors);
    run("share", "", NULL);
    struct stat file;
    CHECK_EQ(stat(path, &file), 0);
    CHECK_EQ(file.st_mode & 0777, 0600);
    run("number", number, NULL);
    remove_file();
    bad_files_are_refused();
    return 0;
}
