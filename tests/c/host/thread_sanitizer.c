/* The library serves a program of ThreadSanitizer. The sanitizer understands no OpenMP runtime but
 * its own build of LLVM's, so this test ignores its reports on regions. It does not understand
 * GHC's runtime system either, so plain threads serve, and one line says so.
 *
 * test: not check the test is about the shared library
 * test: not thread the test is about the shared library
 * test: not address the test is about the shared library
 * test: not undefined the test is about the shared library
 * test: flags -fsanitize=thread
 * test: not qemu qemu's own threads hang
 */
#include "process.h"
#include <limits.h>
#include <omp.h>
#include <sys/personality.h>

static void work(void) {
    int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 100; i++) sum += i;
    }
    CHECK_EQ(sum, 4950);
}

/* ThreadSanitizer fails under strong address randomisation. */
static void fix_addresses(void) {
    personality(ADDR_NO_RANDOMIZE);
}

static void expect(const char *preload) {
    struct child child = run_child(
        "work", &(struct child_options){.environment = {preload, "TSAN_OPTIONS=report_bugs=0"},
                                        .prepare = fix_addresses});
    EXPECT_EXIT(child, 0);
    const char *end = strchr(child.output, '\n');
    int told = strstr(child.output, "ThreadSanitizer does not see") && end && !end[1];
    if (told != on_rts() || (!told && child.output[0]))
        fprintf(stderr, "%s: it says: %s\n", preload, child.output);
    CHECK(told ? on_rts() : !child.output[0] && !on_rts());
}

int main(int count, char **arguments) {
    (void)arguments;
    char preload[PATH_MAX + 16];
    if (count > 1) {
        work();
        return 0;
    }
    test_limit(58);
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", getenv("TEST_LIBRARY"));
    expect("NOTHING");
    expect(preload);
    return 0;
}
