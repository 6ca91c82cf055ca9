/* The library works in any folder from which a program can load it, whatever the folder's name. The
 * dynamic loader also finds libcapstan-rts.so beside it. It finds that file by a path, and some
 * characters in a path have a meaning for the loader.
 *
 * test: not stock libgomp is one file
 * test: not check the test is about the shared library
 * test: not thread the test is about the shared library
 * test: not address the test is about the shared library
 * test: not undefined the test is about the shared library
 * test: not qemu the rts substrate does not exist for that processor
 */
#include "process.h"
#include <limits.h>
#include <omp.h>
#include <sys/stat.h>

static const char *const names[] = {"$LIB",
                                    "${ORIGIN}",
                                    "a$PLATFORM b",
                                    "two words",
                                    "colon:colon",
                                    "gr\xc3\xbc"
                                    "n",
                                    "\xff;'\"\\\n"};
enum { NAMES = sizeof names / sizeof *names };

static void region(void) {
    int count = 0;
#pragma omp parallel num_threads(3)
    INCREMENT(&count);
    CHECK_EQ(count, 3);
}

/* LD_LIBRARY_PATH cannot name such a folder, but it can name the working folder. */
static void run_in(const char *folder) {
    CHECK(chdir(folder) == 0);
    struct child child = run_child(
        "region",
        &(struct child_options){.environment = {"LD_LIBRARY_PATH=.", "OMP_DYNAMIC=false"}});
    EXPECT_EXIT(child, 0);
    if (child.output[0]) fprintf(stderr, "in %s: %s\n", folder, child.output);
    CHECK(!child.output[0]);
    CHECK(chdir("..") == 0);
}

int main(int count, char **arguments) {
    if (count > 1) {
        region();
        return 0;
    }
    test_limit(58);
    char place[] = "/tmp/capstan-folder-XXXXXX", command[2 * PATH_MAX];
    CHECK(mkdtemp(place) && chdir(place) == 0);
    for (int i = 0; i < NAMES; i++) {
        CHECK(mkdir(names[i], 0700) == 0 && chdir(names[i]) == 0);
        snprintf(command, sizeof command,
                 "cp \"$TEST_LIBRARY\" ./libgomp.so.1 && "
                 "cp \"$(dirname \"$TEST_LIBRARY\")\"/libcapstan-rts.so .");
        CHECK(system(command) == 0);
        CHECK(chdir("..") == 0);
        run_in(names[i]);
    }
    snprintf(command, sizeof command, "rm -r %s", place);
    CHECK(system(command) == 0);
    return 0;
}
